"""`Column`, and the table that the server renders for `get`.

A column computes one cell of an object at a time; cells are plain values, so the same columns serve the wire format,
the command line and the web pages.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from dray.api.meta import ApiObject
from dray.api.struct import ApiStruct, always
from dray.values.times import Time, format_age

__all__ = ["AGE", "CREATED_AT", "NAME", "Cell", "Column", "RowCondition", "render_age"]

K_contra = TypeVar("K_contra", bound=ApiObject, contravariant=True)
Cell = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Column(Generic[K_contra]):
    """One column: `cell(thing, now)` is what it shows. Columns of priority 1 are for `-o wide`."""

    name: str
    cell: Callable[[K_contra, Time], Cell]
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


class RowCondition(ApiStruct):
    """What a table says of a whole row, besides its cells: that a pod is completed, so that clients can hide it."""

    type: str = always(str)
    status: str = always(str)
    reason: str = ""
    message: str = ""


def render_age(since: Time | None, now: Time) -> str:
    """How long ago something was, as tables print it; `<unknown>` if it never was."""
    return "<unknown>" if since is None else format_age(now.seconds_since(since))


NAME: Column[ApiObject] = Column(
    "Name", lambda thing, now: thing.metadata.name, format="name", description="Unique name within the namespace."
)
AGE: Column[ApiObject] = Column(
    "Age",
    lambda thing, now: render_age(thing.metadata.creation_timestamp, now),
    description="Time since the object was created.",
)
CREATED_AT: Column[ApiObject] = Column(
    "Created At",
    lambda thing, now: str(thing.metadata.creation_timestamp) if thing.metadata.creation_timestamp else None,
    type="date",
    description="When the object was created.",
)
