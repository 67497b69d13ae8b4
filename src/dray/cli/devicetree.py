"""Devices as text: nodes as trees of NUMA nodes, PCIe roots, cards and their parts; or, of many nodes, a line each."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from dray.allocator.inventory import DeviceEntry, Holder, State

__all__ = ["MOST_TREES", "Line", "Tone", "list_nodes", "render_changes", "render_nodes", "render_tree"]

MOST_TREES: Final = 20
"""Of more nodes than that, only sums are shown."""
_NO_NODE: Final = "(several nodes)"
_HEADER: Final = ("DEVICE", "DRIVER", "KIND", "STATE", "CLAIM", "POD", "TROUBLE")
_WIDE: Final = (*_HEADER, "POOL", "CAPACITY")
_SUMMARY: Final = ("NODE", "DEVICES", "FREE", "TAKEN", "SHARED", "PARTED", "TROUBLE", "CLAIMS")
_CHANGES: Final = ("NODE", *_HEADER)
_CAPACITIES_SHOWN: Final = 2
_GAP: Final = "   "
_FOLD_FROM: Final = 5
"""So many devices of one kind in one place that nobody has are counted."""


class Tone(StrEnum):
    """What a line is about, for those who colour it."""

    PLAIN = "plain"
    HEADING = "heading"
    IN_USE = "in use"
    TROUBLE = "trouble"


class Line(NamedTuple):
    """A line of text."""

    text: str
    tone: Tone = Tone.PLAIN


class _Row(NamedTuple):
    """Cells after the label, and how they are meant."""

    cells: tuple[str, ...] = ()
    tone: Tone = Tone.PLAIN


class _Branch:
    """A place, a device or several devices: what it is called, its rows, what is below."""

    def __init__(self, label: str, rows: Sequence[_Row] = ()) -> None:
        self.label = label
        self.rows = list(rows) or [_Row()]
        self.below: dict[object, _Branch] = {}

    def descend(self, label: str, key: object = None) -> "_Branch":
        """The branch below of that key, or label; a new one if there is none."""
        return self.below.setdefault(label if key is None else key, _Branch(label))


def list_nodes(devices: Iterable[DeviceEntry]) -> list[str]:
    """The nodes of devices in order; the empty name stands for those that several nodes reach."""
    return list(dict.fromkeys(each.node for each in devices))


def render_nodes(devices: Sequence[DeviceEntry]) -> list[Line]:
    """A line for each node: how many devices there are in each state, and how many claims have some."""
    rows = [_Row(_SUMMARY, Tone.HEADING)]
    for node, own in _by_node(devices).items():
        units = _list_units(own)
        unwell = sum(1 for each in own if not each.is_well)
        claims = len({holder.claim for each in own for holder in each.holders})
        counts = (len(units), *(units.count(each) for each in State), unwell, claims)
        tone = Tone.TROUBLE if unwell else Tone.IN_USE if claims else Tone.PLAIN
        rows.append(_Row((node or _NO_NODE, *map(str, counts)), tone))
    return list(_line_up(rows))


def render_tree(devices: Sequence[DeviceEntry], *, is_wide: bool = False, has_sums: bool = True) -> list[Line]:
    """Every node with its devices. Parts of cards that nobody has are counted, unless it is wide.

    Sums make sense where all devices of a node are given, or all of a driver.
    """
    rows = [_Row(_WIDE if is_wide else _HEADER, Tone.HEADING)]
    for node, own in _by_node(devices).items():
        rows.append(_Row((_title(node, own, has_sums=has_sums),), Tone.HEADING))
        rows += _draw(_grow(own, is_wide=is_wide), "")
    return list(_line_up(rows))


def render_changes(devices: Iterable[DeviceEntry], *, with_header: bool) -> list[Line]:
    """A line for each device, with its node; for those who write down what changes."""
    rows = [_Row(_CHANGES, Tone.HEADING)] if with_header else []
    for each in devices:
        rows += [
            row._replace(cells=(each.node or _NO_NODE, each.device, *row.cells)) for row in _rows(each, is_wide=False)
        ]
    return list(_line_up(rows))


def _by_node(devices: Iterable[DeviceEntry]) -> dict[str, list[DeviceEntry]]:
    found: dict[str, list[DeviceEntry]] = {}
    for each in devices:
        found.setdefault(each.node, []).append(each)
    return found


def _list_units(devices: Sequence[DeviceEntry]) -> list[State | None]:
    """The state of each device, where what could be cut from a card counts as that card. A card in parts is blocked.

    None stands for what nobody has and nobody should.
    """
    names = {(each.driver, each.pool, each.device) for each in devices}
    units: list[State | None] = []
    cards: dict[tuple[str, str, str], State | None] = {}
    for each in devices:
        card = (each.driver, each.pool, each.parent)
        if not each.parent or not each.is_cut_on_demand:
            units.append(None if each.state is State.FREE and not each.is_well else each.state)
        elif card not in names:
            is_in_use = any(not holder.is_admin for holder in each.holders)
            cards[card] = State.BLOCKED if is_in_use else cards.get(card, State.FREE if each.is_well else None)
    return [*units, *cards.values()]


def _title(node: str, devices: Sequence[DeviceEntry], *, has_sums: bool) -> str:
    units = _list_units(devices)
    cliques = {each.clique for each in devices if each.clique}
    told = [f"{units.count(State.FREE)} of {len(units)} free"] if has_sums else []
    told += [f"NVLink clique {min(cliques)}"] if len(cliques) == 1 else []
    return f"{node or _NO_NODE}: {', '.join(told)}" if told else node or _NO_NODE


# Growing the tree


def _grow(devices: Sequence[DeviceEntry], *, is_wide: bool) -> _Branch:
    """The tree of one node. Parts hang below their card, which may be no device itself."""
    root = _Branch("")
    ordered = sorted(devices, key=lambda each: int(each.numa_node) if each.numa_node.isdecimal() else -1)
    has_cliques = len({each.clique for each in devices if each.clique}) > 1
    leaves: dict[tuple[str, str, str], _Branch] = {}
    wholes: dict[_Branch, list[DeviceEntry]] = {}
    parts: dict[tuple[str, str, str], list[DeviceEntry]] = {}
    for each in ordered:
        place = _find_place(root, each, has_cliques=has_cliques)
        if each.parent:
            parts.setdefault((each.driver, each.pool, each.parent), []).append(each)
        else:
            wholes.setdefault(place, []).append(each)
    cards = set(parts)
    for place, group in wholes.items():
        kept = {each.path for each in group if (each.driver, each.pool, each.device) in cards}
        leaves |= _hang(place, group, kept=kept, fold_from=1 << 30 if is_wide else _FOLD_FROM, is_wide=is_wide)
    for key, group in parts.items():
        card = leaves.get(key)
        if card is None:
            card = _find_place(root, group[0], has_cliques=has_cliques).descend(key[2], key)
            card.rows = [_Row((group[0].driver,))]
        troubles = {_trouble(each) for each in group} | {row.cells[5] for row in card.rows if len(row.cells) > 5}
        differ = len(troubles) > 1 or len({each.state for each in group}) > 1
        if is_wide or differ or any(each.holders for each in group):
            _hang(card, group, fold_from=1 << 30 if is_wide else 2, is_wide=is_wide)
        else:
            _count_parts(card, group, " ".join(troubles), is_card_listed=key in leaves)
    _prune(root)
    return root


def _count_parts(card: _Branch, parts: Sequence[DeviceEntry], trouble: str, *, is_card_listed: bool) -> None:
    """One line for all parts: the card's own, if it is no device itself."""
    driver, state, tone, number = parts[0].driver, _state(parts[0]), _tone(parts[0]), f"{len(parts)} parts"
    if is_card_listed:
        card.descend(number).rows = [_Row((driver, "", state, "", "", trouble), tone)]
    else:
        card.rows = [_Row((driver, number, state, "", "", trouble), tone)]


def _prune(branch: _Branch) -> None:
    """Take away places where nothing is."""
    for key, each in list(branch.below.items()):
        _prune(each)
        if not each.below and each.rows == [_Row()]:
            del branch.below[key]


def _find_place(root: _Branch, entry: DeviceEntry, *, has_cliques: bool) -> _Branch:
    """Where on its node a device sits, as far as that is known."""
    branch = root
    if has_cliques and entry.clique:
        branch = branch.descend(f"NVLink clique {entry.clique}")
    if entry.numa_node:
        branch = branch.descend(f"NUMA {entry.numa_node}")
    if entry.pcie_root:
        branch = branch.descend(f"PCIe {entry.pcie_root}")
    return branch


def _hang(
    place: _Branch, devices: Sequence[DeviceEntry], *, fold_from: int, is_wide: bool, kept: Collection[str] = ()
) -> dict[tuple[str, str, str], _Branch]:
    """Devices below a place, and where they hang. So many of one kind that nobody has, and that are well, are one line.

    Those to be `kept` have something below them.
    """
    hung: dict[tuple[str, str, str], _Branch] = {}
    alike: dict[tuple[str, ...], list[DeviceEntry]] = {}
    for each in devices:
        is_alone = bool(each.holders) or each.path in kept
        cells = (each.driver, each.kind, _state(each), "", "", _trouble(each))
        alike.setdefault((*cells, each.path if is_alone else ""), []).append(each)
    for kind, group in alike.items():
        if len(group) >= fold_from:
            place.descend(f"{len(group)} devices", kind).rows = [_Row(kind[:-1], _tone(group[0]))]
            continue
        for each in group:
            branch = place.descend(each.device, each.path)
            branch.rows = _rows(each, is_wide=is_wide)
            hung[each.driver, each.pool, each.device] = branch
    return hung


def _rows(entry: DeviceEntry, *, is_wide: bool) -> list[_Row]:
    """The cells of a device: a row for each claim that has it."""
    holders = [_holder(each) for each in entry.holders] or [(_rivals(entry), "")]
    more = (entry.pool, _capacity(entry)) if is_wide else ()
    first = (entry.driver, entry.kind, _state(entry), *holders[0], _trouble(entry), *more)
    tone = _tone(entry)
    return [_Row(first, tone), *(_Row(("", "", "", *each), tone) for each in holders[1:])]


def _state(entry: DeviceEntry) -> str:
    """The state in a word; of what nobody has, what keeps it from being had comes first."""
    if entry.state is State.FREE and not entry.is_well:
        return "tainted" if entry.is_shut else "unhealthy"
    return str(entry.state)


def _trouble(entry: DeviceEntry) -> str:
    return "; ".join((*(f"tainted {each}" for each in entry.taints), *entry.ailments))


def _tone(entry: DeviceEntry) -> Tone:
    if not entry.is_well:
        return Tone.TROUBLE
    return Tone.PLAIN if entry.state is State.FREE else Tone.IN_USE


def _holder(holder: Holder) -> tuple[str, str]:
    amounts = ", ".join(f"{name} {amount}" for name, amount in holder.consumed.items())
    details = "looks only" if holder.is_admin else amounts
    return f"{holder.claim} ({details})" if details else holder.claim, ", ".join(holder.users)


def _rivals(entry: DeviceEntry) -> str:
    return f"(by {', '.join(entry.blocked_by)})" if entry.blocked_by else ""


def _capacity(entry: DeviceEntry) -> str:
    names = sorted(entry.capacity, key=lambda name: (name not in entry.consumed, name != "memory", name))
    told = [
        f"{name} {f'{entry.consumed[name]} of ' if name in entry.consumed else ''}{entry.capacity[name]}"
        for name in names[:_CAPACITIES_SHOWN]
    ]
    return ", ".join(told)


# Drawing


def _draw(branch: _Branch, indent: str) -> Iterator[_Row]:
    below = list(branch.below.values())
    for index, each in enumerate(below):
        is_last = index == len(below) - 1
        rest = indent + ("   " if is_last else "│  ")
        for number, row in enumerate(each.rows):
            label = f"{indent}{'└─ ' if is_last else '├─ '}{each.label}" if not number else rest
            yield row._replace(cells=(label, *row.cells))
        yield from _draw(each, rest)


def _line_up(rows: Sequence[_Row]) -> Iterator[Line]:
    """Columns three spaces apart. Rows of one cell are titles, and take the room they need."""
    widths: list[int] = []
    for row in rows:
        cells = row.cells if len(row.cells) > 1 else ()
        widths += [0] * (len(cells) - len(widths))
        for index, cell in enumerate(cells):
            widths[index] = max(widths[index], len(cell))
    for row in rows:
        text = _GAP.join(cell.ljust(width) for cell, width in zip(row.cells, widths, strict=False))
        yield Line((text if len(row.cells) > 1 else row.cells[0]).rstrip(), row.tone)
