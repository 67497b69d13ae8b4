"""Rules about lists and maps as such: how long, and what may not repeat."""

from collections.abc import Callable, Hashable, Iterable, Sequence, Sized

from dray.errors import FieldError, duplicate, too_many
from dray.values.fieldpath import FieldPath

__all__ = ["fits", "note_duplicates"]

Note = Callable[[FieldError], None]
"""`Report.add` or `Report.declare`."""


def fits(items: Sized, limit: int, path: FieldPath, note: Note) -> bool:
    """Whether there are at most `limit` items. If not, that is the one fault; nobody looks at the items then."""
    if len(items) <= limit:
        return True
    note(too_many(path, len(items), limit, hint=f"remove {len(items) - limit} of the {len(items)} entries"))
    return False


def note_duplicates(keys: Iterable[Hashable], shown: Sequence[object], path: FieldPath, note: Note) -> None:
    """Note every item whose key an earlier item has; `shown` is what the fault shows of each item."""
    seen: set[Hashable] = set()
    for index, item in enumerate(keys):
        if item in seen:
            note(duplicate(path / index, shown[index], hint="remove or rename the repeated entry"))
        seen.add(item)
