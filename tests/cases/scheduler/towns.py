"""Reads cases about placement: nodes, pods on them, and a newcomer, in Kubernetes' own words where they differ from
the defaults.

A node is `{labels, taints, unschedulable, allocatable, images, features}`, by default of 4 cpu, 8Gi and 10 pods, with
its name as host name. A pod is its spec plus `at` (a node), `labels`, `namespace`, `phase`, `started` (a second),
`leaving`, `evicted` (by preemption), `nominated` (room is kept for it on a node), `nominee` (a node was promised to the
newcomer) and `charges` (what its claims take of the node). `requests` is short for one container with these requests,
`ports` for one with these ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import yaml

from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.service import Service
from dray.api.mending import decode_custom
from dray.api.meta import ApiObject
from dray.api.policy.budget import PodDisruptionBudget
from dray.scheduler.configuration import decode_configuration
from dray.scheduler.core.placement import Placement
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["Town", "load_cases", "read_pod", "settle"]

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "10"}
_NOT_SPEC = {
    "on",
    "labels",
    "namespace",
    "started",
    "leaving",
    "nominated",
    "requests",
    "ports",
    "evicted",
    "nominee",
    "charges",
    "phase",
}

Facts = Mapping[str, Any]
K = TypeVar("K", bound=ApiObject)


class Town(NamedTuple):
    """A cluster, and a placement that judges it."""

    snapshot: Snapshot
    placement: Placement

    def numbers(self, names: list[str]) -> int:
        return sum(1 << self.snapshot.names.index(name) for name in names)


def load_cases(folder: Path) -> list[tuple[str, Facts]]:
    """All cases of a folder with a name to tell them apart."""
    cases = [(file.stem, each) for file in sorted(folder.glob("*.yaml")) for each in yaml.safe_load(file.read_text())]
    return [(f"{stem}: {each['name']}", each) for stem, each in cases]


def settle(case: Facts) -> Town:
    """The cluster of a case."""
    snapshot = Snapshot()
    for name, facts in case.get("namespaces", {}).items():
        snapshot.put_namespace(_convert({"metadata": {"name": name, "labels": facts}}, Namespace))
    for number, selector in enumerate(case.get("services", [])):
        metadata = {"name": f"s{number}", "namespace": "default"}
        snapshot.put_service(_convert({"metadata": metadata, "spec": {"selector": selector}}, Service))
    for name, facts in case.get("budgets", {}).items():
        snapshot.put_disruption_budget(_read_budget(name, facts))
    for name, facts in case.get("nodes", {}).items():
        snapshot.put_node(_read_node(name, facts or {}))
    for name, facts in case.get("pods", {}).items():
        if "nominated" in facts:
            snapshot.nominate(read_pod(name, facts), facts["nominated"])
        else:
            snapshot.put_pod(read_pod(name, facts))
    return Town(snapshot, Placement(snapshot, _read_profile(case.get("profile", {}))))


def read_pod(name: str, facts: Facts) -> Pod:
    """A pod from its facts."""
    spec: dict[str, Any] = {key: each for key, each in facts.items() if key not in _NOT_SPEC}
    container: dict[str, Any] = {"name": "c", "resources": {"requests": _texts(facts.get("requests", {}))}}
    container["ports"] = [{"containerPort": 1, **port} for port in facts.get("ports", [])]
    spec.setdefault("containers", [container])
    spec["nodeName"] = facts.get("at", "")
    metadata = {"name": name, "uid": f"uid-{name}", "namespace": facts.get("namespace", "default")}
    metadata["labels"] = facts.get("labels", {})
    if facts.get("leaving"):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    status: dict[str, Any] = {"nominatedNodeName": facts.get("nominee", ""), "phase": facts.get("phase", "")}
    if "charges" in facts:
        mapping = [{"name": name, "quantity": amount} for name, amount in _texts(facts["charges"]).items()]
        status["nodeAllocatableResourceClaimStatuses"] = [{"resourceClaimName": "claim", "mapping": mapping}]
    if "started" in facts:
        status["startTime"] = f"2026-01-01T00:00:{facts['started']:02}Z"
    if facts.get("evicted"):
        status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
    return _convert({"metadata": metadata, "spec": spec, "status": status}, Pod)


def _read_node(name: str, facts: Facts) -> Node:
    labels = {"kubernetes.io/hostname": name, **facts.get("labels", {})}
    images = [{"names": [image], "sizeBytes": size * 2**20} for image, size in facts.get("images", {}).items()]
    document = {
        "metadata": {"name": name, "labels": {key: each for key, each in labels.items() if each is not None}},
        "spec": {key: facts[key] for key in ("taints", "unschedulable") if key in facts},
        "status": {
            "allocatable": _texts({**ROOM, **facts.get("allocatable", {})}),
            "images": images,
            "declaredFeatures": facts.get("features", []),
        },
    }
    return _convert(document, Node)


def _read_budget(name: str, facts: Facts) -> PodDisruptionBudget:
    document = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": facts.get("selector")},
        "status": {
            "disruptionsAllowed": facts["allows"],
            "disruptedPods": dict.fromkeys(facts.get("disrupted", []), "2026-01-01T00:00:00Z"),
        },
    }
    return _convert(document, PodDisruptionBudget)


def _read_profile(facts: Facts) -> Profile:
    config = [{"name": name, "args": args} for name, args in facts.get("args", {}).items()]
    profile = {"plugins": facts.get("plugins", {}), "pluginConfig": config}
    text = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    return decode_configuration(msgspec.json.encode(text)).profiles[0]


def _texts(amounts: Facts) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}


def _convert(document: Facts, struct: type[K]) -> K:
    return msgspec.json.decode(msgspec.json.encode(document), type=struct, dec_hook=decode_custom)
