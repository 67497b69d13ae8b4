"""What a judge of conformance lines is: the part that every kind of line shares."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Judge", "Line", "Verdict", "describe_difference"]

Line = Mapping[str, Any]
"""One recorded case."""


@dataclass
class Verdict:
    """What came of one line. It fails if there is a mismatch; texts, devices and notes never fail it.

    `better` says what dray finds on purpose that the recording missed; such a line passes.
    """

    mismatches: list[str] = field(default_factory=list)
    texts_same: int = 0
    texts: int = 0
    notes: list[str] = field(default_factory=list)
    devices_same: int = 0
    devices: int = 0
    better: str = ""

    @property
    def passed(self) -> bool:
        """Whether the line counts as passed."""
        return not self.mismatches


class Judge(Protocol):
    """Knows one format of lines."""

    def recognises(self, line: Line) -> bool:
        """Whether a line has this format."""
        ...

    def judge(self, line: Line) -> Verdict:
        """Compare what dray does with what was recorded."""
        ...


def describe_difference(got: object, want: object, path: str = "") -> Iterator[str]:
    """Every place where two JSON values differ."""
    if isinstance(got, Mapping) and isinstance(want, Mapping):
        for key in sorted({*got, *want}):
            if key not in got or key not in want:
                side = "extra" if key in got else "missing"
                yield f"{path}.{key}: {side} {got.get(key, want.get(key))!r}"
            else:
                yield from describe_difference(got[key], want[key], f"{path}.{key}")
    elif isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for index, (mine, theirs) in enumerate(zip(got, want, strict=True)):
            yield from describe_difference(mine, theirs, f"{path}[{index}]")
    elif got != want or isinstance(got, bool) is not isinstance(want, bool):
        yield f"{path}: got {got!r}, want {want!r}"
