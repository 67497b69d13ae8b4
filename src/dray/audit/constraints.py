"""Whether the devices of a claim meet its constraints. Every value counts as a set: a list as that of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from dray.api.resource.claim import DeviceConstraint
from dray.api.resource.device import DeviceAttribute
from dray.audit.violations import Violation, ViolationCode
from dray.audit.wishes import Pick
from dray.audit.world import AttributeDerivation, Published

__all__ = ["audit_constraints", "find_attribute"]

Values: TypeAlias = frozenset[tuple[str, str | int]]
"""Values with their kinds, so that values of different kinds differ."""


def audit_constraints(
    subject: str, constraints: Sequence[DeviceConstraint], picks: Sequence[Pick], derive: AttributeDerivation
) -> Iterator[Violation]:
    """What is wrong with the devices of one claim."""
    for index, constraint in enumerate(constraints):
        covered = [pick for pick in picks if not constraint.requests or pick.wish.is_named_in(constraint.requests)]
        fault = _find_fault(constraint, covered, derive)
        if fault:
            yield Violation(ViolationCode.CONSTRAINT_VIOLATED, f"{subject} constraint #{index}", fault)


def _find_fault(constraint: DeviceConstraint, picks: Sequence[Pick], derive: AttributeDerivation) -> str | None:
    name = constraint.match_attribute if constraint.match_attribute is not None else constraint.distinct_attribute
    if name is None:
        return "names no attribute"
    values = [_values(_attribute_seen(pick, name, derive)) for pick in picks]
    for pick, value in zip(picks, values, strict=True):
        if not value:
            return f"{pick.published.key} has no value of {name}"
    if constraint.match_attribute is not None:
        return None if not values or frozenset.intersection(*values) else f"the devices have no {name} in common"
    for (one, its), (other, others) in combinations(zip(picks, values, strict=True), 2):
        if its & others:
            return f"{one.published.key} and {other.published.key} have the same {name}"
    return None


def _attribute_seen(pick: Pick, name: str, derive: AttributeDerivation) -> DeviceAttribute | None:
    """The attribute as the constraint sees it: derived by the request if it says so, else as published."""
    for derived in pick.wish.terms.derived_attributes:
        if derived.name == name:
            return derive(derived.expression, pick.published.key.driver, pick.published.device)
    return find_attribute(pick.published, name)


def find_attribute(published: Published, name: str) -> DeviceAttribute | None:
    """An attribute by its qualified name; the domain of the device's own driver may be left out there."""
    attributes = published.device.attributes
    domain, _, bare = name.partition("/")
    if name not in attributes and domain == published.key.driver:
        return attributes.get(bare)
    return attributes.get(name)


def _values(attribute: DeviceAttribute | None) -> Values:
    if attribute is None:
        return frozenset()
    by_kind: tuple[tuple[str, Sequence[str | int] | None, str | int | None], ...] = (
        ("int", attribute.ints, attribute.int),
        ("bool", attribute.bools, attribute.bool),
        ("string", attribute.strings, attribute.string),
        ("version", attribute.versions, attribute.version),
    )
    return frozenset(
        (kind, value)
        for kind, several, single in by_kind
        for value in (several if several is not None else () if single is None else (single,))
    )
