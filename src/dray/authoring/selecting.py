"""Selectors judged and mended by what is known of the devices they are about.

Each issue says what is wrong at one place of an expression, and what would be right; where that is sure to be what was
meant, the mended expression has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from dray.authoring.expressions import Comparison, Place, Step, Token, find_comparison, find_places, quote, tokenize
from dray.authoring.expressionslips import mend_slips
from dray.authoring.knowledge import FORMER_DOMAINS, STANDARD_DOMAIN, DriverFacts, Knowledge
from dray.authoring.spelling import find_meant, suggest

__all__ = ["Issue", "Mended", "mend_expression"]

_FIELDS: Final = ("driver", "attributes", "capacity", "allowMultipleAllocations")
_FORMER: Final = {"driverName": "driver", "attribute": "attributes", "capacities": "capacity"}
_OTHER: Final = {"attributes": "capacity", "capacity": "attributes"}
_NUMBERS: Final = ("int", "ints")
_VALUES: Final = ("string", "int", "bool", "version", "quantity", "value")
"""What slices wrap values in, and expressions do not."""
_ORDERS: Final = ("<", "<=", ">", ">=")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?(?:[KMGTPE]i?|k|m)")
_VERSION = re.compile(r"v?\d+\.\d+(?:\.\d+)?(?:[-+].*)?")


@dataclass(frozen=True, slots=True)
class Issue:
    """What is wrong at one place, and what to write there instead."""

    rule: str
    message: str
    use: str = ""
    """The right form; empty where there is only a guess."""
    guess: str = ""
    """What may have been meant."""


@dataclass(slots=True)
class Mended:
    """An expression with everything put right that is sure to be meant."""

    text: str
    issues: list[Issue] = field(default_factory=list)


def mend_expression(text: str, driver: str, knowledge: Knowledge) -> Mended:
    """Judge an expression about devices of a driver, which may be unknown (empty). Mending twice changes nothing."""
    worded, messages = mend_slips(text)
    tokens = tokenize(worded)
    mended = Mended(worded)
    edits: list[tuple[int, int, str]] = []
    for place in find_places(tokens):
        if place.steps:
            reading = _Reading(worded, tokens, place, driver, knowledge)
            reading.judge()
            mended.issues += reading.issues
            edits += reading.edits()
    for start, end, new in sorted(edits, reverse=True):
        mended.text = mended.text[:start] + new + mended.text[end:]
    mended.issues[:0] = [Issue("wrong-name", message, mended.text.strip()) for message in messages]
    return mended


class _Reading:
    """One place of an expression: what it reads, as written and as meant."""

    def __init__(self, text: str, tokens: list[Token], place: Place, driver: str, knowledge: Knowledge) -> None:
        self.issues: list[Issue] = []
        self._text = text
        self._place = place
        self._driver = driver
        self._knowledge = knowledge
        self._comparison = find_comparison(tokens, place)
        self._field = place.steps[0].name
        self._domain: str | None = None
        self._name: str | None = None
        self._kept = place.steps[1:]
        """Names behind the field that stay as they are."""
        self._new_comparison: str | None = None

    def judge(self) -> None:
        """Find what is wrong."""
        self._judge_field()
        if self._field in _OTHER and len(self._place.steps) > 1:
            self._judge_names()
        if self._field in _OTHER and self._name is not None:
            self._judge_value()

    def edits(self) -> Iterator[tuple[int, int, str]]:
        """What to put where."""
        first = self._place.steps[0]
        if self._field != first.name:
            yield first.start, first.end, f".{self._field}"
        rest = self._place.steps[1:]
        if rest and self._kept != rest:
            yield rest[0].start, rest[-1].end, self._write_names()
        comparison = self._comparison
        if self._new_comparison is None or comparison is None:
            return
        if comparison.is_flipped:
            yield comparison.start, comparison.end, ""
            yield self._place.end, self._place.end, self._new_comparison
        else:
            yield self._place.end, comparison.end, self._new_comparison

    def _judge_field(self) -> None:
        name = self._field
        if name in _FIELDS:
            return
        meant = _FORMER.get(name) or suggest(name, _FIELDS, cutoff=0.6)
        if meant:
            self._field = meant
            self._note("wrong-name", f"device has no field {name}", f"device.{meant}")

    def _judge_names(self) -> None:
        steps = self._judge_wrapping(self._kept)
        first, *rest = steps
        if len(steps) > 2 and not any(step.is_index for step in steps):
            self._domain, self._name = ".".join(step.name for step in steps[:-1]), steps[-1].name
            self._kept = ()
            self._note("cel-compile", f"{self._written()}: a domain with dots stands in quotes", self._wanted())
        elif rest:
            self._domain, self._name = first.name, rest[0].name
            self._judge_domain(first)
        elif "/" in first.name:
            self._domain, _, self._name = first.name.partition("/")
            self._kept = ()
            self._note("cel-compile", f"{self._written()} is not by domain, then name", self._wanted())
        elif not self._is_domain(first.name):
            self._domain, self._name = self._find_domain(first.name), first.name
            if self._domain:
                self._kept = ()
                self._note("cel-compile", f"{self._written()} is the map of a domain, not a value", self._wanted())

    def _judge_wrapping(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The names without the type that a value has in a slice: `.model.string`."""
        last = steps[-1]
        has_name = len(steps) > 2 or (len(steps) == 2 and not self._is_domain(steps[0].name))
        if last.is_index or last.name not in _VALUES or not has_name:
            return steps
        self._domain, self._name = (steps[0].name, steps[1].name) if len(steps) > 2 else ("", steps[0].name)
        if len(steps) > 2:
            self._kept = ()
            self._note("wrong-name", f"values are read as they are, without .{last.name}", self._wanted())
        return steps[:-1]

    def _is_domain(self, name: str) -> bool:
        return "." in name or name == self._driver

    def _find_domain(self, name: str) -> str:
        """The domain that a bare name belongs to."""
        facts = self._facts
        if facts is not None:
            for known in [*facts.attributes, *facts.capacities]:
                domain, _, own = known.partition("/")
                if own == name and (domain == self._driver or f"{self._driver}/{name}" not in facts.attributes):
                    return domain
        return self._driver

    def _judge_domain(self, step: Step) -> None:
        domain = self._domain or ""
        facts = self._facts
        known = {STANDARD_DOMAIN, self._driver, *(facts.domains if facts is not None else ())}
        if domain in known:
            return
        meant = STANDARD_DOMAIN if domain in FORMER_DOMAINS else find_meant(domain, known - {""})
        if meant:
            self._domain, self._kept = meant, ()
            self._note("unknown-domain", f"no domain {step.name}", self._wanted(), is_guess=True)
        elif facts is not None and self._name is not None:
            self._note_unknown_domain(domain)

    def _note_unknown_domain(self, domain: str) -> None:
        message = f"{self._driver} publishes nothing under {domain}"
        name = f"{self._driver}/{self._name}"
        facts = self._facts
        message += f" in {facts.source}" if facts is not None else ""
        has_it = facts is not None and (name in facts.attributes or name in facts.capacities)
        guess = f'device.{self._field}["{self._driver}"].{self._name}' if has_it else ""
        self.issues.append(Issue("unknown-domain", message, guess=guess))
        self._name = None

    def _judge_value(self) -> None:
        """Whether what is read exists, and is compared with its like."""
        facts, name = self._facts, f"{self._domain}/{self._name}"
        if facts is not None and not self._is_published(facts, self._field, name):
            if self._is_published(facts, _OTHER[self._field], name):
                self._swap_field(name)
            elif not self._swap_by_quantity():
                self._note_unknown(facts, name)
        elif facts is None:
            self._swap_by_quantity()
        if self._field == "capacity":
            self._compare_quantity()
        else:
            self._compare_attribute(facts.attributes.get(name, set()) if facts is not None else set())

    def _is_published(self, facts: DriverFacts, kind: str, name: str) -> bool:
        return name in (facts.attributes if kind == "attributes" else facts.capacities)

    def _swap_field(self, name: str) -> None:
        found = self._field
        self._field = _OTHER[found]
        what = "a capacity, not an attribute" if found == "attributes" else "an attribute, not a capacity"
        if found == "capacity" and self._comparison is not None and self._comparison.kind == "quantity":
            self._field = found  # how an attribute was to be compared with a quantity, nobody can tell
            self.issues.append(Issue("attribute-or-capacity", f"{name} is {what}"))
            return
        missing = "unknown attribute: " if found == "attributes" else "unknown capacity: "
        self._note("attribute-or-capacity", f"{missing}{name} is {what}", self._wanted_comparison())

    def _swap_by_quantity(self) -> bool:
        """Take an attribute that is compared with an amount for a capacity, where nothing tells better."""
        comparison = self._comparison
        if self._field != "attributes" or comparison is None or not _is_amount(comparison):
            return False
        if comparison.operator not in _ORDERS and comparison.kind != "quantity":
            return False
        self._field = "capacity"
        message = f"unknown attribute: {self._domain}/{self._name} is compared with an amount, so it is a capacity"
        self._note("attribute-or-capacity", message, self._wanted_comparison())
        return True

    def _note_unknown(self, facts: DriverFacts, name: str) -> None:
        known = facts.attributes if self._field == "attributes" else facts.capacities
        owns = {each.rpartition("/")[2]: each for each in sorted(known)}
        near = owns.get(suggest(self._name or "", owns), "")
        what = "attribute" if self._field == "attributes" else "capacity"
        message = f"unknown {what} {name}: no device of {self._driver} in {facts.source} has it"
        guess = ""
        if near:
            domain, _, own = near.partition("/")
            guess = f'device.{self._field}["{domain}"].{own}'
        self.issues.append(Issue("unknown-attribute", message, guess=guess))

    def _compare_quantity(self) -> None:
        comparison = self._comparison
        if comparison is None or comparison.is_method or comparison.kind in ("bool", "semver"):
            return
        self._new_comparison = self._as_method("quantity")
        message = f"a quantity is never compared by {comparison.operator} with {_kind_in_words(comparison)}"
        self._note("quantity-as-text", message, self._wanted_comparison())

    def _compare_attribute(self, types: set[str]) -> None:
        comparison = self._comparison
        if comparison is None or comparison.is_method:
            return
        if not types and comparison.kind == "string" and comparison.operator in _ORDERS:
            self._guess_version(comparison)
        if len(types) != 1:
            return
        (kind,) = types
        if kind == "version" and comparison.kind in ("string", "semver"):
            self._new_comparison = self._as_method("semver")
            message = f"a version is never compared by {comparison.operator} with {_kind_in_words(comparison)}"
            self._note("cel-type", message, self._wanted_comparison())
        elif (kind, comparison.kind) in (
            ("string", "number"),
            ("string", "bool"),
            ("int", "string"),
            ("bool", "string"),
        ):
            article = "text" if kind == "string" else "a number" if kind in _NUMBERS else "true or false"
            message = f"{self._domain}/{self._name} is {article}, and never equals {_kind_in_words(comparison)}"
            self.issues.append(Issue("cel-type", message, guess=self._of_type(kind)))

    def _guess_version(self, comparison: Comparison) -> None:
        if _AMOUNT.fullmatch(comparison.constant):
            return
        if _VERSION.fullmatch(comparison.constant):
            guess = self._wanted() + self._as_method("semver")
            self.issues.append(Issue("cel-type", "texts are ordered letter by letter, versions are not", guess=guess))

    def _of_type(self, kind: str) -> str:
        """The comparison with the constant as the other type, if it can be read so."""
        comparison = self._comparison
        if comparison is None:
            return ""
        if kind == "string":
            constant = quote(comparison.constant, self._text)
        elif (kind == "int" and comparison.constant.isdecimal()) or comparison.constant in ("true", "false"):
            constant = comparison.constant
        else:
            return ""
        return f"{self._wanted()} {comparison.operator} {constant}"

    def _as_method(self, kind: str) -> str:
        comparison = self._comparison
        if comparison is None:
            return ""
        constant = quote(comparison.constant, self._text)
        return f".compareTo({kind}({constant})) {comparison.operator} 0"

    @property
    def _facts(self) -> DriverFacts | None:
        return self._knowledge.drivers.get(self._driver)

    def _note(self, rule: str, message: str, use: str, *, is_guess: bool = False) -> None:
        self.issues.append(Issue(rule, message, "" if is_guess else use, use if is_guess else ""))

    def _written(self) -> str:
        return self._text[self._place.start : self._place.end]

    def _write_names(self) -> str:
        rest = self._place.steps[1:]
        sample = self._text[rest[0].start : rest[-1].end]
        sample = sample if any(step.is_index for step in rest) else self._text
        return f"[{quote(self._domain or '', sample)}].{self._name}"

    def _wanted(self) -> str:
        """The place as it should be."""
        rest = self._place.steps[1:]
        if not rest:
            return f"device.{self._field}"
        names = self._text[rest[0].start : rest[-1].end] if self._kept == rest else self._write_names()
        return f"device.{self._field}{names}"

    def _wanted_comparison(self) -> str:
        """The place as it should be, with what it is compared with."""
        comparison = self._comparison
        if comparison is None:
            return self._wanted()
        if self._field == "capacity" and not comparison.is_method:
            return self._wanted() + self._as_method("quantity")
        if self._new_comparison is not None:
            return self._wanted() + self._new_comparison
        if comparison.is_flipped:
            return self._text[comparison.start : comparison.end] + self._wanted()
        return self._wanted() + self._text[self._place.end : comparison.end]


def _is_amount(comparison: Comparison) -> bool:
    """Whether a constant can only be a quantity: `16Gi`, not `3`."""
    return comparison.kind == "quantity" or bool(_AMOUNT.fullmatch(comparison.constant))


def _kind_in_words(comparison: Comparison) -> str:
    words = {"string": "a string", "number": "a number", "bool": "true or false"}
    return words.get(comparison.kind, f"{comparison.kind}(...)")
