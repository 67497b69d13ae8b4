"""What is wanted is told from what is not, fact by fact; and what must never be is seen."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from dray.api.core.event import Event
from dray.demo.example import Wants
from dray.demo.sights import Sights, list_contradictions, list_unmet
from tests.cases.allocator.terse import decode
from tests.cases.devices.world import read_facts

Raw = dict[str, Any]
CASES = yaml.safe_load(Path(__file__).parents[2].joinpath("cases", "demo", "wants.yaml").read_text(encoding="utf-8"))


def see(world: Raw) -> Sights:
    facts = read_facts(world)
    pods = {}
    for pod in facts.pods:
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        terse = world["pods"][name]
        conditions = [{"type": "PodScheduled", "status": "False", "message": terse["said"]}] if "said" in terse else []
        raw = {
            "spec": {"nodeName": terse.get("node", "")},
            "status": {"phase": terse["phase"], "conditions": conditions},
        }
        told = decode(raw, type(pod))
        spec = replace(pod.spec, node_name=told.spec.node_name)
        status = replace(pod.status, phase=told.status.phase, conditions=told.status.conditions)
        meta = replace(pod.metadata, uid=pod.metadata.name)  # as claims are reserved for it in the world
        pods[name] = replace(pod, metadata=meta, spec=spec, status=status)
    return Sights(
        pods=pods,
        claims={f"{each.metadata.namespace}/{each.metadata.name}": each for each in facts.claims},
        slices=facts.slices,
        nodes={each.metadata.name: each for each in facts.nodes},
        events=[decode(event(each), Event) for each in world.get("events", ())],
    )


def event(terse: Raw) -> Raw:
    namespace, _, name = terse["pod"].partition("/")
    involved = {"kind": "Pod", "namespace": namespace, "name": name}
    return {"involvedObject": involved, "reason": terse["reason"], "message": terse["message"]}


def read_wants(raw: Raw) -> Wants:
    return msgspec.convert(raw, Wants)


@pytest.mark.parametrize("wants", CASES["holds"], ids=str)
def test_nothing_is_missed_where_all_is_as_wanted(wants: Raw) -> None:
    assert list_unmet(read_wants(wants), see(CASES["world"])) == []


@pytest.mark.parametrize("wants", CASES["fails"], ids=str)
def test_what_is_not_as_wanted_is_told(wants: Raw) -> None:
    assert read_wants(wants).facts <= 1
    assert len(list_unmet(read_wants(wants), see(CASES["world"]))) >= 1


def list_faults(claims: Raw) -> list[str]:
    """What is wrong with a world in which a pod runs on n1. Claims of worlds have no finalizers, which is left out."""
    world = {"devices": {"a": ["d0"]}, "nodes": {"n1": {}, "n2": {}}, "claims": claims}
    pods = {"demo/web": {"claims": {"gpu": "one"}, "phase": "Running", "node": "n1"}}
    return [each for each in list_contradictions(see(world | {"pods": pods})) if "FinalizerMissing" not in each]


def test_a_pod_that_runs_with_its_devices_contradicts_nothing() -> None:
    assert list_faults({"demo/one": {"users": ["web"], "has": ["gpu: a/p/d0"], "node": "n1"}}) == []


@pytest.mark.parametrize(
    ("claims", "want"),
    [
        (
            {
                "demo/one": {"users": ["web"], "has": ["gpu: a/p/d0"], "node": "n1"},
                "demo/two": {"has": ["gpu: a/p/d0"], "node": "n1"},
            },
            "DeviceTaken",
        ),
        ({"demo/one": {"users": ["other"], "has": ["gpu: a/p/d0"], "node": "n1"}}, "no reservation of claim one"),
        ({"demo/one": {"users": []}}, "without devices for claim one"),
        ({}, "without devices for claim one"),
        ({"demo/one": {"users": ["web"], "has": ["gpu: a/p/d0"], "node": "n2"}}, "where claim one cannot be used"),
    ],
    ids=["given twice", "not reserved", "without devices", "without a claim", "beside its devices"],
)
def test_what_must_never_be_is_seen(claims: Raw, want: str) -> None:
    assert any(want in each for each in list_faults(claims))
