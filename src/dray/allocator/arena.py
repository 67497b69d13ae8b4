"""The problem as the search sees it: demands over the devices of one node, with all that cannot change worked out.

An arena follows from the shape of the claims and the model of the node alone. What is taken is no part of it, so one
arena serves all nodes of a model, and every decision about claims of the shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TypeAlias

from dray.allocator.amounts import AmountError, amounts_taken
from dray.allocator.bits import bits
from dray.allocator.columns import Column, find_attribute, values_of
from dray.allocator.complaints import Complaint
from dray.allocator.counterbook import CounterBook
from dray.allocator.expressions import ExpressionFault
from dray.allocator.interning import Interner
from dray.allocator.matching import Matcher, SelectorFault
from dray.allocator.outcome import FailureCode
from dray.allocator.pools import PoolState
from dray.allocator.requests import MAX_DEVICES, ClaimShape, Constraint, Demand, Shape
from dray.allocator.tolerations import first_intolerable
from dray.allocator.view import NodeView
from dray.api.resource.device import DeviceAttribute

__all__ = ["Amounts", "Arena", "Option", "Request", "build_arena"]

Amounts: TypeAlias = Mapping[str, int]
"""Billionths taken of each capacity of a device."""


@dataclass(slots=True, eq=False)
class Option:
    """One demand over the devices of a node.

    `selected` are the places that selectors and static capacity accept; all of them are wanted in mode All.
    `candidates` are those of them that taints and the node leave. `amounts` are taken from devices that are shared.
    `faults` stop an attempt that comes to their place; `columns` are by number of the constraint within the claim.
    """

    number: int
    request: int
    claim: int
    demand: Demand
    selected: int
    candidates: int
    faults: Mapping[int, Complaint]
    amounts: Mapping[int, Amounts]
    columns: tuple[tuple[int, Column], ...]
    need: int
    fault_mask: int
    is_admin: bool
    wants_all: bool
    derivation_faults: Mapping[int, Complaint]

    @property
    def can_fail(self) -> bool:
        """Whether trying the option may come across something that stops the attempt."""
        return bool(self.fault_mask or self.derivation_faults)


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request: its options in order of preference, and the number of its claim."""

    claim: int
    options: tuple[Option, ...]

    @property
    def least(self) -> int:
        """Devices that the cheapest option needs."""
        return min((option.need for option in self.options), default=0)


@dataclass(frozen=True, slots=True, eq=False)
class Arena:
    """Requests of all claims in order, over devices in search order.

    `constraints` are by claim. `shared` are places of devices that allow several allocations, `capacities` what they
    have, in billionths. With a `complaint` there is nothing to search.
    """

    size: int
    requests: tuple[Request, ...]
    constraints: tuple[tuple[Constraint, ...], ...]
    shared: int
    capacities: Mapping[int, Amounts]
    counters: CounterBook | None
    complaint: Complaint | None = None

    @property
    def options(self) -> tuple[Option, ...]:
        """All options of all requests, by their number."""
        return tuple(option for request in self.requests for option in request.options)

    def keeping(self, numbers: Sequence[int]) -> Arena:
        """The same with only some of the requests, in the order given."""
        requests: list[Request] = []
        count = 0
        for old in numbers:
            options: list[Option] = []
            for option in self.requests[old].options:
                options.append(replace(option, number=count, request=len(requests)))
                count += 1
            requests.append(Request(self.requests[old].claim, tuple(options)))
        return replace(self, requests=tuple(requests))


class _Builder:
    """Builds one arena from one view."""

    def __init__(self, shape: Shape, view: NodeView, matcher: Matcher) -> None:
        self.shape = shape
        self.view = view
        self.matcher = matcher
        self.requests: list[Request] = []
        self.option_count = 0
        self.interners: dict[str, Interner] = {}
        self.columns: dict[tuple[str, int, Demand | None], Column] = {}
        self.shared = reduce(or_, (1 << i for i, d in enumerate(view.devices) if d.allow_multiple_allocations), 0)
        self.inoperable = view.inoperable

    def build(self) -> Arena:
        complaint: Complaint | None = None
        for number, claim in enumerate(self.shape.claims):
            complaint = self._enter_claim(number, claim)
            if complaint is not None:
                break
        constraints = tuple(claim.constraints for claim in self.shape.claims)
        size = len(self.view.devices)
        capacities = {
            place: {name: capacity.value.nanos for name, capacity in self.view.devices[place].capacity.items()}
            for place in bits(self.shared)
        }
        return Arena(size, tuple(self.requests), constraints, self.shared, capacities, self.view.counters, complaint)

    def _enter_claim(self, number: int, claim: ClaimShape) -> Complaint | None:
        first = len(self.requests)
        for request in claim.requests:
            options: list[Option] = []
            for demand in request.demands:
                option = self._option(demand, claim.constraints)
                if isinstance(option, Complaint):
                    return option
                options.append(option)
            self.requests.append(Request(number, tuple(options)))
        if claim.request_complaint is not None:
            return claim.request_complaint
        least = sum(request.least for request in self.requests[first:])
        if least > MAX_DEVICES:
            text = f": number of requested devices {least} exceeds the claim limit of {MAX_DEVICES}"
            return Complaint(FailureCode.TOO_MANY_DEVICES, text, number)
        return claim.constraint_complaint

    def _option(self, demand: Demand, constraints: tuple[Constraint, ...]) -> Option | Complaint:
        selected, faults = self._select(demand)
        amounts = self._fit_amounts(demand, selected, faults)
        selected = reduce(or_, (1 << place for place in amounts), 0) if amounts is not None else selected
        if demand.wants_all:
            complaint = self._complaint_about_all(demand, faults)
            if complaint is not None:
                return complaint
        columns = tuple(
            (index, self._column(demand, selected, constraint.attribute))
            for index, constraint in enumerate(constraints)
            if constraint.covers(demand)
        )
        number = self.option_count
        self.option_count += 1
        return Option(
            number=number,
            request=len(self.requests),
            claim=demand.claim,
            demand=demand,
            selected=selected,
            candidates=self._tolerated(demand, selected & ~self.inoperable),
            faults=faults,
            amounts={place: taken for place, taken in (amounts or {}).items() if self.shared >> place & 1},
            columns=columns,
            need=selected.bit_count() if demand.wants_all else demand.count,
            fault_mask=reduce(or_, (1 << place for place in faults), 0),
            is_admin=demand.is_admin,
            wants_all=demand.wants_all,
            derivation_faults={place: fault for _, column in columns for place, fault in column.faults.items()},
        )

    def _select(self, demand: Demand) -> tuple[int, dict[int, Complaint]]:
        """Places that the selectors accept and the node reaches, and faults of selectors."""
        selected = 0
        faults: dict[int, Complaint] = {}
        for start, _, prepared in self.view.segments:
            verdicts = self.matcher.judge(demand, prepared)
            selected |= verdicts.accepted << start
            for place, fault in verdicts.faults.items():
                faults[start + place] = _selector_complaint(demand, fault, start + place)
        return selected & ~self.view.unreachable, faults

    def _fit_amounts(self, demand: Demand, selected: int, faults: dict[int, Complaint]) -> dict[int, Amounts] | None:
        """What the demand takes of each selected device that it can ever fit; None if amounts play no part."""
        if not demand.amounts and not selected & self.shared:
            return None
        fitting: dict[int, Amounts] = {}
        for place in bits(selected):
            device = self.view.devices[place]
            if not demand.amounts and not self.shared >> place & 1:
                fitting[place] = {}
                continue
            try:
                taken = amounts_taken(device, demand.amounts)
            except AmountError as error:
                before = f"{demand.subject}: checking capacity for device "
                faults[place] = Complaint(
                    FailureCode.CAPACITY_FAILED, before, demand.claim, place, f": {error}", is_brief=demand.wants_all
                )
                continue
            if taken is not None:
                fitting[place] = {name: amount.nanos for name, amount in taken.items()}
        return fitting

    def _complaint_about_all(self, demand: Demand, faults: Mapping[int, Complaint]) -> Complaint | None:
        """Who wants all devices has to look at all pools: the first that cannot be used, or fault in it, is fatal."""
        for places, pool in zip(self.view.pool_places, self.view.pools, strict=True):
            if pool.state is not PoolState.USABLE:
                text = f"{demand.subject}: asks for all devices, but resource pool {pool.id} is currently {pool.state}"
                return Complaint(FailureCode.POOL_NOT_USABLE, text, demand.claim)
            first = min((place for place in faults if places >> place & 1), default=None)
            if first is not None:
                return faults[first]
        return None

    def _tolerated(self, demand: Demand, selected: int) -> int:
        kept = selected
        for place in bits(selected):
            taints = self.view.devices[place].taints
            if taints and first_intolerable(taints, demand.tolerations) is not None:
                kept ^= 1 << place
        return kept

    def _column(self, demand: Demand, selected: int, attribute: str) -> Column:
        derived = next((each for each in demand.derived if each.name == attribute), None)
        # A fault names the request, so columns that may have some are not shared between requests.
        key = (attribute, selected, None if derived is None else demand)
        known = self.columns.get(key)
        if known is None:
            interner = self.interners.setdefault(attribute, Interner())
            known = self.columns[key] = self._read_column(demand, selected, attribute, interner)
        return known

    def _read_column(self, demand: Demand, selected: int, name: str, interner: Interner) -> Column:
        values: dict[int, int] = {}
        places: dict[int, int] = {}
        faults: dict[int, Complaint] = {}
        derived = next((each for each in demand.derived if each.name == name), None)
        present = 0
        for place in bits(selected):
            driver = self.view.slice_at(place).pool.driver
            device = self.view.devices[place]
            attribute: DeviceAttribute | None = None
            if derived is None:
                attribute = find_attribute(name, driver, device)
            else:
                derivation = self.matcher.derivation(derived.expression)
                try:
                    attribute = derivation.value(driver, device)
                except ExpressionFault as fault:
                    faults[place] = _derivation_complaint(demand, derived.name, fault, place)
            mask = values[place] = values_of(attribute, interner)
            if mask:
                present |= 1 << place
                for value in bits(mask):
                    places[value] = places.get(value, 0) | 1 << place
        return Column(name, values, places, present, faults)


def _derivation_complaint(demand: Demand, name: str, fault: ExpressionFault, place: int) -> Complaint:
    code = FailureCode.DERIVED_ATTRIBUTE_FAILED
    if fault.is_compile_error:
        return Complaint(code, f"{demand.subject}: compile derived attribute {name} failed: {fault}", demand.claim)
    before = f"{demand.subject}: evaluate derived attribute {name} on device "
    return Complaint(code, before, demand.claim, place, f" failed: {fault}")


def _selector_complaint(demand: Demand, fault: SelectorFault, place: int) -> Complaint:
    subject = f"class {demand.class_name}" if fault.is_of_class else ""
    claim = None if fault.is_of_class else demand.claim
    before = f"{subject}: selector #{fault.index}"
    if fault.is_compile_error:
        return Complaint(FailureCode.SELECTOR_FAILED, f"{before}: CEL compile error: {fault.detail}", claim)
    return Complaint(
        FailureCode.SELECTOR_FAILED, f"{before} on device ", claim, place, f": CEL runtime error: {fault.detail}"
    )


def build_arena(shape: Shape, view: NodeView, matcher: Matcher) -> Arena:
    """Work out everything about the claims on this node that does not depend on what is taken."""
    return _Builder(shape, view, matcher).build()
