"""Strategies for small worlds to allocate in: a node, classes, pools, claims that hold devices, and claims to allocate.

A world has a few features and is plain otherwise, so that the rules of those features bite and a failing example stays
readable. Numbers are chosen so that about half of the worlds can serve their claims.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import yaml
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from hypothesis.vendor.pretty import RepresentationPrinter as PrettyPrinter

from dray.api.core.node import Node
from dray.api.core.nodestatus import NodeStatus
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass, DeviceClassConfiguration, DeviceClassSpec
from dray.audit.world import World
from tests.properties.artist import GPU, NIC, NODE, Feature, opaque, select
from tests.properties.demand import Demand
from tests.properties.expressions import derived_or_nothing, is_true
from tests.properties.supply import Supply

__all__ = ["CLASSES", "DrawnWorld", "claims_to_allocate", "show", "worlds"]

CLASS_SELECTORS: Mapping[str, tuple[str, ...]] = {
    "any": (),
    "gpu": (f'device.driver == "{GPU}"',),
    "nic": (f'device.driver == "{NIC}"',),
}

CLASSES = tuple(
    DeviceClass(
        metadata=ObjectMeta(name=name),
        spec=DeviceClassSpec(
            selectors=select(*expressions),
            config=(DeviceClassConfiguration(opaque=opaque(name)),) if name == "gpu" else (),
        ),
    )
    for name, expressions in CLASS_SELECTORS.items()
)


@st.composite
def _feature_sets(draw: DrawFn, without: frozenset[Feature]) -> frozenset[Feature]:
    """A few features, sometimes none and sometimes many."""
    allowed = [feature for feature in Feature if feature not in without]
    number = draw(st.sampled_from([0, 1, 1, 2, 2, 2, 3, 3, 4, 7]))
    return frozenset(draw(st.lists(st.sampled_from(allowed), min_size=number, max_size=number, unique=True)))


def show(**facts: object) -> str:
    """Objects as a case file has them, to be copied from a failing test."""
    plain = json.loads(msgspec.json.encode(facts, enc_hook=str))
    return "\n" + yaml.safe_dump(plain, default_flow_style=None, sort_keys=False, width=140)


@dataclass(frozen=True, slots=True, repr=False)
class DrawnWorld(World):
    """A world that prints as a case of `tests/cases/allocator`, without what all drawn worlds have in common."""

    def __repr__(self) -> str:
        return show(node=self.node, slices=self.slices, allocated=self.allocated, claims=self.claims)

    # How hypothesis asks for it.
    def _repr_pretty_(self, printer: PrettyPrinter, is_cycle: bool) -> None:
        printer.text(repr(self))


@st.composite
def worlds(draw: DrawFn, *, max_devices: int = 6, without: frozenset[Feature] = frozenset()) -> DrawnWorld:
    """A world with claims to allocate on its node."""
    features = draw(_feature_sets(without))
    supply, demand = Supply(draw, features), Demand(draw, features)
    can_skip = Feature.OPERATIONS in features and draw(st.booleans())
    node = Node(
        metadata=ObjectMeta(name=NODE, labels={"zone": "a"}),
        status=NodeStatus(declared_features=("DRAOptionalNodeOperations",) if can_skip else ()),
    )
    slices = supply.pools(max_devices)
    return DrawnWorld(
        node=node,
        classes=CLASSES,
        slices=slices,
        allocated=supply.held(slices),
        claims=demand.claims(),
        is_true=is_true,
        derive=derived_or_nothing,
    )


@st.composite
def claims_to_allocate(draw: DrawFn) -> tuple[ResourceClaim, ...]:
    """Claims of any kind, for a world that has some already."""
    return Demand(draw, draw(_feature_sets(frozenset()))).claims()
