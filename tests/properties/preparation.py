"""What kube-scheduler's plain search knows before it starts, and what a device is to a request whoever has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dray.api.resource.claim import DeviceConstraint, ResourceClaim
from dray.api.resource.device import DeviceAttribute
from dray.api.resource.request import AllocationMode
from dray.audit.amounts import amount_of, amounts_taken
from dray.audit.constraints import find_attribute
from dray.audit.nodes import is_usable_from, placement
from dray.audit.pools import PoolState, SeenPool, published_devices, see_offer
from dray.audit.wishes import Wish, find_class, list_wishes
from dray.audit.world import DeviceKey, PoolKey, Published, World
from dray.values.quantity import Quantity
from tests.properties.expressions import Fault, derive, judge

__all__ = ["MAX_DEVICES", "FatalError", "Option", "Preparation"]

MAX_DEVICES = 32


class FatalError(Exception):
    """The attempt ends here."""


@dataclass(frozen=True)
class Option:
    """One exact request or alternative: how many devices, and which if all."""

    claim: int
    wish: Wish
    needed: int
    listed: tuple[Published, ...] | None

    @property
    def is_alternative(self) -> bool:
        return self.wish.reference != self.wish.request


def name_claim(claim: ResourceClaim) -> str:
    metadata = claim.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def values_of(attribute: DeviceAttribute | None) -> frozenset[tuple[str, object]]:
    """A value with its kind, a list as the set of its elements."""
    if attribute is None:
        return frozenset()
    for kind in ("int", "bool", "string", "version"):
        several = getattr(attribute, f"{kind}s")
        if several is not None:
            return frozenset((kind, value) for value in several)
        single = getattr(attribute, kind)
        if single is not None:
            return frozenset([(kind, single)])
    return frozenset()


class Preparation:
    """Pools in search order, requests validated and sized, and answers about single devices. Made before any search.

    Raises `FatalError` where kube-scheduler gives up on the input.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.pools = sorted(see_offer(world.slices, world.node).pools, key=_search_order)
        usable = [pool for pool in self.pools if pool.state is PoolState.USABLE]
        self.devices = [published for pool in usable for published in published_devices(pool.here)]
        self.pool_of = {pool.key: pool for pool in usable}
        self.options: list[list[list[Option]]] = []
        self._verdicts: dict[tuple[int, str, DeviceKey], bool] = {}

    def prepare(self) -> None:
        for number, claim in enumerate(self.world.claims):
            requests = [
                [self.prepare_option(number, claim, wish) for wish in list_wishes(request)]
                for request in claim.spec.devices.requests or ()
            ]
            least = sum(min(option.needed for option in options) for options in requests)
            if least > MAX_DEVICES:
                text = f"number of requested devices {least} exceeds the claim limit of {MAX_DEVICES}"
                raise FatalError(f"claim {name_claim(claim)}: {text}")
            for index, constraint in enumerate(claim.spec.devices.constraints):
                if constraint.match_attribute is None and constraint.distinct_attribute is None:
                    text = f"constraint #{index}: empty constraint (unsupported constraint type?)"
                    raise FatalError(f"claim {name_claim(claim)}, {text}")
            self.options.append(requests)

    def prepare_option(self, number: int, claim: ResourceClaim, wish: Wish) -> Option:
        subject = self.subject(claim, wish)
        terms = wish.terms
        for index, selector in enumerate(terms.selectors):
            if selector.cel is None:
                raise FatalError(f"{subject}: selector #{index}: CEL expression empty (unsupported selector type?)")
        if not terms.device_class_name:
            raise FatalError(f"{subject}: missing device class name (unsupported request type?)")
        if find_class(self.world, wish) is None:
            text = f'deviceclass.resource.k8s.io "{terms.device_class_name}" not found'
            raise FatalError(f"{subject}: could not retrieve device class {terms.device_class_name}: {text}")
        if terms.allocation_mode == AllocationMode.EXACT_COUNT:
            return Option(number, wish, terms.count, None)
        if terms.allocation_mode != AllocationMode.ALL:
            raise FatalError(f"{subject}: unsupported count mode {terms.allocation_mode}")
        listed: list[Published] = []
        for pool in self.pools:
            if pool.state is not PoolState.USABLE:
                state = "invalid" if pool.state is PoolState.INVALID else "being updated"
                text = f"asks for all devices, but resource pool {pool.key} is currently {state}"
                raise FatalError(f"{subject}: {text}")
            listed += [
                published
                for published in published_devices(pool.here)
                if self.is_selectable(number, wish, published) and self.amounts(number, wish, published, brief=True)
            ]
        return Option(number, wish, len(listed), tuple(listed))

    def subject(self, claim: ResourceClaim, wish: Wish) -> str:
        own_name = wish.reference.removeprefix(f"{wish.request}/")
        return f"claim {name_claim(claim)}, request {own_name}"

    # What a device is to a request, whoever else has what.

    def is_selectable(self, number: int, wish: Wish, published: Published) -> bool:
        key = (number, wish.reference, published.key)
        if key not in self._verdicts:
            self._verdicts[key] = self.evaluate(number, wish, published)
        return self._verdicts[key]

    def evaluate(self, number: int, wish: Wish, published: Published) -> bool:
        device_class = find_class(self.world, wish)
        assert device_class is not None
        of_class = f"class {device_class.metadata.name}"
        of_claim = f"claim {name_claim(self.world.claims[number])}"
        for owner, selectors in ((of_class, device_class.spec.selectors), (of_claim, wish.terms.selectors)):
            for index, selector in enumerate(selectors):
                assert selector.cel is not None
                verdict = judge(selector.cel.expression, published.key.driver, published.device)
                if isinstance(verdict, Fault):
                    where = "" if verdict.is_compile_error else f" on device {published.key}"
                    kind = "compile" if verdict.is_compile_error else "runtime"
                    raise FatalError(f"{owner}: selector #{index}{where}: CEL {kind} error: {verdict.detail}")
                if not verdict:
                    return False
        if not published.source.spec.per_device_node_selection:
            return True
        return is_usable_from(placement(published), self.world.node)

    def amounts(
        self, number: int, wish: Wish, published: Published, *, brief: bool = False
    ) -> Mapping[str, Quantity] | None:
        """What is taken of each capacity, with an entry for the device itself; None if it can never serve the wish."""
        capacity = published.device.capacity
        requested = wish.terms.capacity.requests if wish.terms.capacity is not None else {}
        if not requested.keys() <= capacity.keys():
            return None
        for name in capacity:
            if amount_of(capacity[name], requested.get(name)) is None:
                device = published.key.name if brief else str(published.key)
                subject = self.subject(self.world.claims[number], wish)
                raise FatalError(f'{subject}: checking capacity for device {device}: capacity "{name}": ')
        amounts = amounts_taken(published.device, requested)
        return None if amounts is None else {"": Quantity.of(0), **amounts}

    def values(
        self, constraint: DeviceConstraint, option: Option, published: Published
    ) -> frozenset[tuple[str, object]]:
        name = constraint.match_attribute
        name = name if name is not None else constraint.distinct_attribute
        assert name is not None
        for derived in option.wish.terms.derived_attributes:
            if derived.name == name:
                value = derive(derived.expression, published.key.driver, published.device)
                if isinstance(value, Fault):
                    subject = self.subject(self.world.claims[option.claim], option.wish)
                    where = "" if value.is_compile_error else f" on device {published.key}"
                    verb = "compile" if value.is_compile_error else "evaluate"
                    raise FatalError(f"{subject}: {verb} derived attribute {name}{where} failed: {value.detail}")
                return values_of(value)
        return values_of(find_attribute(published, name))


def _search_order(pool: SeenPool) -> tuple[bool, PoolKey]:
    has_conditions = any(published.device.binding_conditions for published in published_devices(pool.here))
    return pool.state is PoolState.USABLE and has_conditions, pool.key
