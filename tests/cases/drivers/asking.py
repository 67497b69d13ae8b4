"""Clusters of profiles, and claims that take what they are given, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import msgspec

from dray.allocator.allocate import allocate
from dray.allocator.cluster import Cluster
from dray.allocator.ids import ClaimUid, claim_uid
from dray.allocator.outcome import Allocated, Failed, Outcome, Unschedulable
from dray.api.codec import decode
from dray.api.resource.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dray.api.resource.defaults import default_claim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.drivers.sim.catalog import Equipment, parse_equipment
from dray.drivers.sim.nvidia.part import NvidiaPart
from dray.drivers.sim.part import Machine, Place
from dray.values.times import parse_time
from tests.unit.drivers.slicing import cluster_of

Case = dict[str, Any]
NOW = parse_time("2026-01-01T00:00:00Z")
_NUMBERS = count()


def equip(text: str) -> Equipment:
    """`mixed` is a node with two sorts of GPUs, which no profile has."""
    if text != "mixed":
        return parse_equipment(text)
    gpus = tuple(Place(f"0000:0{n}:00.0", model="t4" if n < 2 else "a100-40gb") for n in range(4))
    part = NvidiaPart(model="t4", gpus=gpus)
    return Equipment(text, parse_equipment("t4-vm").profiles, tuple(part.blueprints(Machine())))


def build(nodes: Mapping[str, str], held: Sequence[str]) -> Cluster:
    """Nodes with their equipment, of which some GPUs are taken."""
    fleets: dict[str, list[str]] = {}
    for node, text in nodes.items():
        fleets.setdefault(text, []).append(node)
    cluster = cluster_of(*((equip(text), tuple(names)) for text, names in fleets.items()))
    for index, place in enumerate(held):
        node, device = place.split("/")
        taken = DeviceRequestAllocationResult(request="r", driver="gpu.nvidia.com", pool=node, device=device)
        cluster.take(ClaimUid(f"held-{index}"), AllocationResult(devices=DeviceAllocationResult(results=(taken,))))
    return cluster


def ask(cluster: Cluster, nodes: Sequence[str], spec: object) -> Outcome:
    """Give the devices of the first node that has them to a new claim; the answer of the last node if none has."""
    metadata = {"name": f"claim-{next(_NUMBERS)}", "namespace": "default", "uid": f"uid-{next(_NUMBERS)}"}
    text = msgspec.json.encode({"metadata": metadata, "spec": spec})
    claim = default_claim(decode(RESOURCE_CLAIM, "v1", text, strict=True), NOW)
    outcome: Outcome = Unschedulable()
    for node in nodes:
        outcome = allocate([claim], cluster, node, share_ids=lambda: f"share-{next(_NUMBERS)}")
        if isinstance(outcome, Allocated):
            (allocation,) = outcome.allocations
            cluster.take(claim_uid(claim), allocation)
            return outcome
    return outcome


def describe(outcome: Outcome, nodes: Sequence[str]) -> object:
    """Devices by request as node/device, those of a pool that is no node's as those of the first node."""
    if isinstance(outcome, Unschedulable):
        return "refused"
    if isinstance(outcome, Failed):
        return outcome.code
    if not isinstance(outcome, Allocated):
        return outcome
    given: dict[str, list[str]] = {}
    for result in outcome.allocations[0].devices.results:
        place = result.pool if result.pool in nodes else nodes[0]
        given.setdefault(result.request, []).append(f"{place}/{result.device}")
    return given
