"""How far each device of a node comes for one request, and what holds it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from dray.allocator.arena import Arena, Option
from dray.allocator.capacity import CapacityRule
from dray.allocator.cluster import Cluster
from dray.allocator.columns import find_attribute
from dray.allocator.counters import CounterRule
from dray.allocator.expressions import ExpressionFault
from dray.allocator.groups import GroupRule
from dray.allocator.ids import ClaimUid
from dray.allocator.reasons import Fall, ReasonCode, RequestExplanation
from dray.allocator.requests import Demand
from dray.allocator.slices import Reads
from dray.allocator.solve import rules_of
from dray.allocator.tolerations import first_intolerable, render_taint
from dray.allocator.view import NodeView
from dray.api.resource.device import Device, DeviceAttribute

__all__ = ["Surveyor", "name_value"]

_VALUES_SHOWN = 4
_HOLDERS_SHOWN = 32


class Surveyor:
    """Looks at every device of a node for one attempt."""

    def __init__(self, cluster: Cluster, view: NodeView, arena: Arena) -> None:
        self._cluster = cluster
        self._view = view
        self._arena = arena
        self._occupancy = cluster.occupancy(view)
        self._rules = rules_of(arena, self._occupancy)

    def explain(self, option: Option) -> RequestExplanation:
        """How the option fares by itself. Devices that fell for the same reason are counted together."""
        grouped: dict[Hashable, list[tuple[int, Fall]]] = {}
        for place in range(self._arena.size):
            fall = self._fall(option, place)
            if fall is not None:
                key = (list(ReasonCode).index(fall.code), fall.subject, fall.number)
                grouped.setdefault(key, []).append((place, fall))
        falls = tuple(self._together(each) for _, each in sorted(grouped.items(), key=lambda item: str(item[0])))
        demand = option.demand
        return RequestExplanation(
            claim=option.claim,
            request=demand.label,
            class_name=demand.class_name,
            needed=max(option.need, 1),
            seen=self._arena.size,
            falls=tuple(sorted(falls, key=lambda fall: list(ReasonCode).index(fall.code))),
            left=self._arena.size - sum(fall.count for fall in falls),
            wants_all=option.wants_all,
        )

    def _together(self, fallen: list[tuple[int, Fall]]) -> Fall:
        first = fallen[0][1]
        values = Counter(value for _, fall in fallen for value in fall.values)
        holders = dict.fromkeys(holder for _, fall in fallen for holder in fall.holders)
        return Fall(
            code=first.code,
            count=len(fallen),
            subject=first.subject,
            number=first.number,
            values=tuple(value for value, _ in values.most_common(_VALUES_SHOWN)),
            holders=tuple(holders)[:_HOLDERS_SHOWN],
            example=str(self._view.device_id(fallen[0][0])),
        )

    def _fall(self, option: Option, place: int) -> Fall | None:
        if not option.selected >> place & 1:
            return self._unselected(option.demand, place)
        device = self._view.devices[place]
        if not option.candidates >> place & 1:
            taint = first_intolerable(device.taints, option.demand.tolerations)
            if taint is None:
                return Fall(ReasonCode.NODE_OPERATIONS_NEEDED, 1)
            return Fall(ReasonCode.TAINTED, 1, render_taint(taint))
        for rule in self._rules:
            if rule.shut(option) >> place & 1:
                return self._shut(rule, place)
        for index, column in option.columns:
            if not column.present >> place & 1:
                attribute = self._arena.constraints[option.claim][index].attribute
                return Fall(ReasonCode.CONSTRAINT_UNSATISFIED, 1, attribute)
        return None

    def _unselected(self, demand: Demand, place: int) -> Fall:
        driver, device = self._view.slice_at(place).pool.driver, self._view.devices[place]
        for code, expressions in (
            (ReasonCode.WRONG_CLASS, demand.class_expressions),
            (ReasonCode.SELECTOR_FALSE, demand.expressions),
        ):
            for number, expression in enumerate(expressions):
                selector = self._cluster.plans.matcher.selector(expression)
                try:
                    if not selector.matches(driver, device):
                        subject = demand.class_name if code is ReasonCode.WRONG_CLASS else expression
                        values = _read_values(selector.reads, driver, device)
                        return Fall(code, 1, subject, number, tuple(values))
                except ExpressionFault as fault:
                    return Fall(ReasonCode.SELECTOR_FAILED, 1, expression, number, (str(fault),))
        if self._view.unreachable >> place & 1:
            return Fall(ReasonCode.UNREACHABLE, 1)
        wanted = (f"{name}: {each.value}" for name, each in device.capacity.items() if name in demand.amounts)
        return Fall(ReasonCode.CAPACITY_TOO_SMALL, 1, "", None, tuple(wanted))

    def _shut(self, rule: object, place: int) -> Fall:
        if isinstance(rule, CounterRule):
            return Fall(ReasonCode.COUNTERS_EXHAUSTED, 1, self._scarce_counter(place), holders=self._drawers(place))
        if isinstance(rule, GroupRule):
            return Fall(ReasonCode.GROUPS_INCOMPATIBLE, 1, holders=self._drawers(place))
        code = ReasonCode.SHARES_EXHAUSTED if isinstance(rule, CapacityRule) else ReasonCode.TAKEN
        return Fall(code, 1, holders=tuple(self._refs(self._users(place))))

    def _scarce_counter(self, place: int) -> str:
        book = self._arena.counters
        if book is None:
            return ""
        remaining = self._occupancy.remaining
        short = [counter for counter, amount in book.draws[place].amounts if amount > remaining[counter]]
        return book.names[short[0]][2] if short else ""

    def _drawers(self, place: int) -> tuple[str, ...]:
        """Claims that hold devices which draw on the same counter sets, on this node or another."""
        book = self._arena.counters
        if book is None:
            return ()
        sets = {number for number, _ in book.draws[place].groups}
        users: list[ClaimUid] = []
        for other, draw in book.draws.items():
            if sets & {number for number, _ in draw.groups}:
                users += self._users(other)
        for pool, name, draw in book.outside:
            if sets & {number for number, _ in draw.groups}:
                use = self._cluster.ledger.uses(self._view.pools[pool].id).get(name)
                users += use.users() if use is not None else []
        return tuple(self._refs(users))

    def _users(self, place: int) -> list[ClaimUid]:
        device = self._view.device_id(place)
        use = self._cluster.ledger.uses(device.pool_id).get(device.name)
        return use.users() if use is not None else []

    def _refs(self, users: Iterable[ClaimUid]) -> Iterator[str]:
        for user in dict.fromkeys(users):
            holding = self._cluster.ledger.holding(user)
            yield holding.ref if holding is not None else user


def _read_values(reads: Reads, driver: str, device: Device) -> Iterator[str]:
    for name in sorted(reads.attributes):
        attribute = find_attribute(name, driver, device)
        yield f"{name} is {name_value(attribute)}" if attribute is not None else f"no {name}"
    for name in sorted(reads.capacities):
        capacity = device.capacity.get(name) or device.capacity.get(name.removeprefix(f"{driver}/"))
        yield f"{name} is {capacity.value}" if capacity is not None else f"no {name}"


def name_value(attribute: DeviceAttribute) -> str:
    """The value of an attribute, as people write it."""
    for value in (attribute.string, attribute.int, attribute.bool, attribute.version):
        if value is not None:
            return str(value).lower() if isinstance(value, bool) else str(value)
    several = attribute.strings or attribute.ints or attribute.bools or attribute.versions or ()
    return f"[{', '.join(str(each) for each in several)}]"
