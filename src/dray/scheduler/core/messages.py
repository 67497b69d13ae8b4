"""What the scheduler says about pods, in Kubernetes' words, with our explanation after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dray.scheduler.core.verdicts import Refusal

__all__ = [
    "MAX_NOTE_BYTES",
    "NO_NODES",
    "count_available",
    "count_reasons",
    "cut_note",
    "join_notes",
    "render_refusal",
    "render_rejection",
]

NO_NODES: Final = "no nodes available to schedule pods"
MAX_NOTE_BYTES: Final = 1024
"""What the note of an event holds."""
_CUT: Final = " ..."


def count_available(nodes: int) -> str:
    """How every refusal begins."""
    return f"0/{nodes} nodes are available:"


def render_refusal(nodes: int, reasons: Iterable[tuple[str, int]], after: str = "") -> str:
    """Say how many of all nodes refuse a pod for which reason, and what was tried after that.

    Reasons are sorted as text, numbers included, as Kubernetes does.
    """
    counts: dict[str, int] = {}
    for reason, count in reasons:
        counts[reason] = counts.get(reason, 0) + count
    parts = sorted(f"{count} {reason}" for reason, count in counts.items())
    text = f"{count_available(nodes)} {', '.join(parts)}." if parts else count_available(nodes)
    return f"{text} {after}" if after else text


def render_rejection(nodes: int, reasons: Sequence[str], after: str = "") -> str:
    """Say why a pod is refused before any node is looked at."""
    text = f"{count_available(nodes)} {', '.join(reasons)}."
    return f"{text} {after}" if after else text


def count_reasons(refusals: Iterable[Refusal]) -> list[tuple[str, int]]:
    """Reasons with the number of nodes that have them."""
    return [(refusal.reason, refusal.nodes.bit_count()) for refusal in refusals]


def join_notes(kubernetes: str, explanation: str) -> str:
    """The whole message: Kubernetes' text, then ours."""
    if not explanation:
        return kubernetes
    return f"{kubernetes}{'' if kubernetes.endswith('.') else ';'} {explanation}"


def cut_note(text: str) -> str:
    """The message as far as the note of an event holds it."""
    encoded = text.encode()
    if len(encoded) <= MAX_NOTE_BYTES:
        return text
    return encoded[: MAX_NOTE_BYTES - len(_CUT)].decode(errors="ignore") + _CUT
