"""Writes that were recorded from a Kubernetes API server, replayed in their order.

Each line of ssa.jsonl and smp.jsonl is one exchange; the object lives on from line to line. Between them controllers
wrote unseen: what they changed shows in the next answer, and is written here in their name first.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from dray.errors import ApiError
from dray.merge.apply import Writer
from dray.merge.gotext import format_plain
from dray.merge.mergepatch import create_merge_patch
from tests.cases.merge.world import World, claims, deployments, render

Json = dict[str, Any]

FOLDER = Path(__file__).parent
CONTROLLER = "kube-controller-manager"
MERGE_PATCH = "application/merge-patch+json"

REFUSED_BEFORE = {
    "apply no fieldManager",
    "apply wrong rv",
    "apply uid on missing",
    "apply json patch ct",
    "apply cbor ct",
    "force without apply",
    "smp fieldvalidation strict",
}
"""Refused by the server for what stands around the patch."""
REFUSED_AFTER = {
    "apply missing key",
    "claim spec immutable",
    "claim status apply without allocation",
    "deploy selector immutable",
}
"""Merged, and then refused by the checks of the kind."""
SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "namespace")


def exchanges(name: str) -> list[Json]:
    return [msgspec.json.decode(line) for line in FOLDER.joinpath(name).read_bytes().splitlines()]


def write(world: World, exchange: Json) -> Json:
    url = urlsplit(exchange["path"])
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    subresource = "status" if url.path.endswith("/status") else ""
    manager = query.get("fieldManager", "unknown")
    writer = Writer(manager, time_of(exchange, manager, subresource))
    if exchange["method"] == "PUT":
        return world.put(subresource, exchange["body"], writer)
    body = msgspec.json.encode(exchange["body"])
    return world.patch(subresource, exchange["type"], body, writer, force=query.get("force") == "true")


def time_of(exchange: Json, manager: str, subresource: str) -> str:
    """When the answer says that the writer wrote last."""
    for entry in exchange["answer"].get("metadata", {}).get("managedFields", []):
        if (entry["manager"], entry.get("subresource", "")) == (manager, subresource):
            return str(entry["time"])
    return "2026-11-18T19:37:38Z"


def catch_up(world: World, exchange: Json) -> None:
    """Write what controllers have written since the last exchange, as far as the next answer shows it."""
    if world.live is None or exchange["status"] != 200 or exchange["path"].split("?")[0].endswith("/status"):
        return
    live, answer = world.live, exchange["answer"]
    target = {
        **live,
        "metadata": {**live["metadata"], "annotations": answer["metadata"].get("annotations", {})},
        "status": answer["status"],
    }
    writer = Writer(CONTROLLER, time_of(exchange, CONTROLLER, "status"))
    if live["status"].get("conditions") and live["status"]["conditions"] != target["status"]["conditions"]:
        on_the_way = deepcopy(target)  # a rollout passes through another reason
        on_the_way["status"]["conditions"][-1]["reason"] = "ReplicaSetUpdated"
        world.patch("status", MERGE_PATCH, msgspec.json.encode(create_merge_patch(live, on_the_way)), writer)
        live = world.live
    world.patch("status", MERGE_PATCH, msgspec.json.encode(create_merge_patch(live, target)), writer)


def assert_answer(world: World, got: Json, exchange: Json) -> None:
    want = exchange["answer"]
    for name in SERVER_FIELDS:
        if name in want["metadata"]:
            got["metadata"][name] = want["metadata"][name]
    assert got == want
    assert got["metadata"].get("managedFields") == want["metadata"].get("managedFields")
    assert list_keys(got["metadata"].get("managedFields")) == list_keys(want["metadata"].get("managedFields"))


def list_keys(value: Any) -> list[str]:
    """All keys of field sets, in order."""
    return [key for entry in value or () for key in walk_keys(entry["fieldsV1"])]


def walk_keys(value: Json) -> list[str]:
    return [name for key, below in value.items() for name in (key, *walk_keys(below))]


def replay(world: World, exchange: Json) -> None:
    if exchange["name"] in REFUSED_BEFORE or exchange["method"] == "GET":
        return
    if exchange["answer"]["kind"] == "Deployment":
        catch_up(world, exchange)
    kept = deepcopy(world.live)
    if exchange["status"] < 300:
        assert_answer(world, write(world, exchange), exchange)
    elif exchange["name"] in REFUSED_AFTER:
        write(world, exchange)
        world.live = kept
    else:
        with pytest.raises(ApiError) as caught:
            write(world, exchange)
        answer = exchange["answer"]
        want = {name: answer[name] for name in ("message", "code", "reason", "details") if name in answer}
        assert render(caught.value) == want
        assert world.live == kept


def drop_reservation(world: World) -> None:
    """The claim controller ends the reservation of a pod that is not there."""
    world.patch("status", MERGE_PATCH, b'{"status": {"reservedFor": null}}', Writer(CONTROLLER, "2026-11-18T19:37:38Z"))


def test_server_side_apply_and_strategic_merge_patch_answer_as_recorded() -> None:
    deployment, claim = deployments(), claims()
    for exchange in exchanges("ssa.jsonl"):
        if exchange["name"] == "claim status apply":
            drop_reservation(claim)
        replay(claim if "resourceclaims" in exchange["path"] else deployment, exchange)
    for exchange in exchanges("smp.jsonl"):
        replay(deployment, exchange)


def test_every_recorded_exchange_is_accounted_for() -> None:
    everything = exchanges("ssa.jsonl") + exchanges("smp.jsonl")
    assert len(everything) == 42
    named = REFUSED_BEFORE | REFUSED_AFTER
    assert {each["name"] for each in everything} >= named
    assert sum(each["name"] not in named and each["method"] != "GET" for each in everything) == 30


def test_patch_is_quoted_as_recorded() -> None:
    (strict,) = (each for each in exchanges("smp.jsonl") if each["name"] == "smp fieldvalidation strict")
    assert f'Invalid value: "{format_plain(strict["body"])}"' in strict["answer"]["message"]


def test_item_without_key_is_appended_for_the_checks_to_refuse() -> None:
    deployment = deployments()
    for exchange in exchanges("ssa.jsonl"):
        if exchange["name"] == "apply missing key":
            merged = write(deployment, exchange)
            assert merged["spec"]["template"]["spec"]["containers"][2]["name"] == ""
            return
        replay(deployment, exchange)
