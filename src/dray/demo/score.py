"""How many of the twelve GPU use cases hold, beside what Kubernetes' working group counted for its releases."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

__all__ = ["Result", "render_score"]

_KUBERNETES: Final = (("1.30", "", 6), ("1.31", "", 9), ("1.33", ", as planned", 11))
"""Release, remark, use cases that it supports."""
_WIDTH: Final = 24


class Result(Struct, frozen=True):
    """What became of one example."""

    name: str
    title: str
    facts: int = 0
    """How many were seen to hold."""
    problem: str = ""
    """What did not come out as it should; empty if everything did."""

    @property
    def holds(self) -> bool:
        """Whether everything came out as it should."""
        return not self.problem


def render_score(results: Sequence[Result]) -> str:
    """Bars, ours last."""
    total = len(results)
    ours = sum(each.holds for each in results)
    rows = [(f"Kubernetes {release}", remark, count) for release, remark, count in _KUBERNETES]
    rows.append(("dray", "", ours))
    lines = [f"{name:<16} {_bar(count, total)} {count:>2} of {total}{remark}" for name, remark, count in rows]
    return "".join(f"{line}\n" for line in lines)


def _bar(count: int, total: int) -> str:
    filled = round(_WIDTH * count / total) if total else 0
    return "#" * filled + "." * (_WIDTH - filled)
