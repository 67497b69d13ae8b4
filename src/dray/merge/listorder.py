"""The order of a list after a strategic merge patch.

Items that the patch names keep the patch's order; the others keep the live list's. Where the two meet, the live list
decides between items it has both of; an item it does not have comes first.
"""

from typing import Any

from dray.merge.comparing import ABSENT

__all__ = ["arrange", "key_of"]


def key_of(item: Any, merge_key: str) -> Any:
    """What tells an item from others: its merge key, or itself. Hashable; true is not 1."""
    value = item.get(merge_key, ABSENT) if merge_key and isinstance(item, dict) else item
    return (type(value).__name__, repr(value) if isinstance(value, dict | list) else value)


def arrange(items: list[Any], *, wanted: list[Any], live: list[Any], merge_key: str) -> list[Any]:
    """Put `items` in order: those that `wanted` has by it, the others by `live`."""
    place_wanted = _places(wanted, merge_key)
    place_live = _places(live, merge_key)
    named = [(place_wanted[key], item) for item in items if (key := key_of(item, merge_key)) in place_wanted]
    others = [item for item in items if key_of(item, merge_key) not in place_wanted]
    named.sort(key=lambda each: each[0])
    others.sort(key=lambda item: place_live.get(key_of(item, merge_key), len(live)))
    return _interleave(others, [item for _, item in named], place_live, merge_key)


def _places(items: list[Any], merge_key: str) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for place, item in enumerate(items):
        places.setdefault(key_of(item, merge_key), place)
    return places


def _interleave(others: list[Any], named: list[Any], place_live: dict[Any, int], merge_key: str) -> list[Any]:
    order: list[Any] = []
    left = 0
    for item in named:
        place = place_live.get(key_of(item, merge_key))
        while left < len(others) and place is not None:
            if place_live.get(key_of(others[left], merge_key), place) >= place:
                break
            order.append(others[left])
            left += 1
        order.append(item)
    return order + others[left:]
