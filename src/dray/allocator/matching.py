"""Which devices the selectors of a demand accept, remembered by expressions and model of slice.

Every expression is asked once about devices that look the same to it, whatever node they are on and whichever request
asks. Selectors run in order, the class's first, and stop at the first that is false; one that fails makes a fault,
which matters only if the search comes to that device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dray.allocator.expressions import Derivation, ExpressionFault, Language, Score, Selector
from dray.allocator.interning import Interner
from dray.allocator.requests import Demand, Shape
from dray.allocator.slices import NO_READS, PreparedSlice, Reads
from dray.api.resource.device import Device

__all__ = ["Matcher", "SelectorFault", "Verdicts"]

_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
    "for optional fields"
)


@dataclass(frozen=True, slots=True)
class SelectorFault:
    """A selector that cannot be judged: the class's or the request's own, its index there, and what went wrong."""

    is_of_class: bool
    index: int
    detail: str
    is_compile_error: bool


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """What selectors say about the devices of one slice: accepted places in the slice, and faults by place."""

    accepted: int
    faults: Mapping[int, SelectorFault]


class Matcher:
    """Judges slices by expressions. Remembers every program and verdict."""

    def __init__(self, language: Language, interner: Interner) -> None:
        self._language = language
        self._interner = interner
        self._selectors: dict[str, Selector] = {}
        self._derivations: dict[str, Derivation] = {}
        self._scores: dict[str, Score] = {}
        self._verdicts: dict[tuple[tuple[str, ...], tuple[str, ...], int], Verdicts] = {}

    def selector(self, expression: str) -> Selector:
        """The compiled condition."""
        known = self._selectors.get(expression)
        if known is None:
            known = self._selectors[expression] = self._language.selector(expression)
        return known

    def derivation(self, expression: str) -> Derivation:
        """The compiled derived attribute."""
        known = self._derivations.get(expression)
        if known is None:
            known = self._derivations[expression] = self._language.derivation(expression)
        return known

    def score(self, expression: str) -> Score:
        """The compiled score."""
        known = self._scores.get(expression)
        if known is None:
            known = self._scores[expression] = self._language.score(expression)
        return known

    def reads(self, demand: Demand) -> Reads:
        """What the selectors of a demand read."""
        reads = NO_READS
        for expression in (*demand.class_expressions, *demand.expressions):
            reads |= self.selector(expression).reads
        return reads

    def shape_reads(self, shape: Shape) -> Reads:
        """What a decision about claims of this shape reads, apart from what every decision reads."""
        reads = NO_READS
        for claim in shape.claims:
            attributes = frozenset(constraint.attribute for constraint in claim.constraints)
            reads |= Reads(attributes=attributes)
            for demand in (demand for request in claim.requests for demand in request.demands):
                reads |= self.reads(demand) | Reads(amounts=bool(demand.amounts))
                for derived in demand.derived:
                    reads |= self.derivation(derived.expression).reads
        return reads

    def judge(self, demand: Demand, prepared: PreparedSlice) -> Verdicts:
        """What the selectors of a demand say about the devices of a slice."""
        model = prepared.model(self.reads(demand), self._interner)
        key = (demand.class_expressions, demand.expressions, model)
        known = self._verdicts.get(key)
        if known is None:
            known = self._verdicts[key] = self._judge(demand, prepared)
        return known

    def _judge(self, demand: Demand, prepared: PreparedSlice) -> Verdicts:
        accepted = 0
        faults: dict[int, SelectorFault] = {}
        for place, device in enumerate(prepared.devices):
            verdict = self._verdict(demand, prepared.pool.driver, device)
            if isinstance(verdict, SelectorFault):
                faults[place] = verdict
            elif verdict:
                accepted |= 1 << place
        return Verdicts(accepted, faults)

    def _verdict(self, demand: Demand, driver: str, device: Device) -> bool | SelectorFault:
        for is_of_class, expressions in ((True, demand.class_expressions), (False, demand.expressions)):
            for index, expression in enumerate(expressions):
                try:
                    if not self.selector(expression).matches(driver, device):
                        return False
                except ExpressionFault as fault:
                    detail = str(fault) if fault.is_compile_error else _with_hint(str(fault))
                    return SelectorFault(is_of_class, index, detail, fault.is_compile_error)
        return True


def _with_hint(detail: str) -> str:
    return detail + _HINT if "no such key: " in detail and _HINT not in detail else detail
