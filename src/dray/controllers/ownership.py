"""What becomes of an object by its owners: the pure part of garbage collection.

Nothing is deleted while one owner lives. What is not known counts as living.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from msgspec.structs import replace

from dray.api.meta import ObjectMeta, OwnerReference

__all__ = [
    "FOREGROUND",
    "ORPHAN",
    "Fate",
    "FateKind",
    "OwnerState",
    "decide_fate",
    "find_blockers",
    "keep_references",
    "unblock_references",
]

FOREGROUND: Final = "foregroundDeletion"
"""Finalizer: the object waits until the dependents that block it are gone."""
ORPHAN: Final = "orphan"
"""Finalizer: the object waits until its dependents have let go of it."""


class OwnerState(Enum):
    """What is known of an owner."""

    ALIVE = "alive"
    """There, or nobody knows."""
    WAITING = "waiting"
    """Going, once its dependents are gone."""
    ABSENT = "absent"
    """Gone, or never there."""


class FateKind(Enum):
    """What to do with an object."""

    KEEP = "keep"
    DETACH = "detach"
    """Take away the references to owners that are gone or going."""
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Fate:
    """What to do with an object, with the references that stay or the way to delete it."""

    kind: FateKind
    references: tuple[OwnerReference, ...] = ()
    propagation_policy: str = ""


_KEEP: Final = Fate(FateKind.KEEP)


def decide_fate(meta: ObjectMeta, states: Mapping[str, OwnerState], *, has_dependents: bool) -> Fate:
    """What becomes of an object, with the states of its owners by uid.

    One that is being deleted already goes its own way. An owner that waits for its dependents takes them along in the
    same manner: they wait for theirs.
    """
    owners = meta.owner_references
    if not owners or meta.deletion_timestamp is not None:
        return _KEEP
    by_state = {state: [each for each in owners if states[each.uid] is state] for state in OwnerState}
    alive = by_state[OwnerState.ALIVE]
    if alive:
        return _KEEP if len(alive) == len(owners) else Fate(FateKind.DETACH, tuple(alive))
    if by_state[OwnerState.WAITING] and has_dependents:
        return Fate(FateKind.DELETE, propagation_policy="Foreground")
    return Fate(FateKind.DELETE, propagation_policy=_get_wish(meta))


def _get_wish(meta: ObjectMeta) -> str:
    """How the object itself asks to be deleted."""
    if ORPHAN in meta.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in meta.finalizers else "Background"


def find_blockers(uid: str, dependents: Sequence[ObjectMeta]) -> list[ObjectMeta]:
    """The dependents that the foreground deletion of their owner `uid` waits for. None waits for itself."""
    return [
        meta for meta in dependents if meta.uid != uid and any(_blocks(each, uid) for each in meta.owner_references)
    ]


def _blocks(reference: OwnerReference, uid: str) -> bool:
    return reference.uid == uid and reference.block_owner_deletion is True


def unblock_references(meta: ObjectMeta) -> tuple[OwnerReference, ...]:
    """The owner references, none of which holds its owner up."""
    return tuple(
        replace(each, block_owner_deletion=False) if each.block_owner_deletion else each
        for each in meta.owner_references
    )


def keep_references(meta: ObjectMeta, uid: str) -> tuple[OwnerReference, ...]:
    """The owner references without the one to `uid`."""
    return tuple(each for each in meta.owner_references if each.uid != uid)
