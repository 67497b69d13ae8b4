"""Accounts of pods and claims as text for a terminal: what matters first, codes at the end of the line."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dray.scheduler.core.accounts import Account, HeldDevice, Miss, Refused, RequestFare, Situation

__all__ = ["render_account"]

_DEVICES_SHOWN: Final = 16
_HAS_DEVICES: Final = (Situation.PLACED, Situation.ALLOCATED, Situation.DELETING)


def render_account(account: Account) -> str:
    """Everything about one pod or claim, in short paragraphs."""
    parts = [_head(account), _waits(account), _devices(account), _refusals(account.refusals)]
    if account.nearest is not None:
        parts += list(_miss(account.nearest))
    return "\n".join(part for part in parts if part)


def _head(account: Account) -> str:
    kind = "pod" if account.kind == "Pod" else "claim"
    lines = [f"{kind} {account.namespace}/{account.name}: {account.code}", f"  {account.summary}"]
    if account.message and account.message not in account.summary:
        lines.append(f"  in the scheduler's words: {account.message}")
    if account.used_by:
        lines.append(f"  used by {', '.join(account.used_by)}")
    return _text(lines)


def _waits(account: Account) -> str:
    if not account.waits:
        return ""
    lines = ["Waits for" if any(each.is_blocking for each in account.waits) else "Good to know"]
    for line, each in zip(_align([(each.text, each.code) for each in account.waits], "  "), account.waits, strict=True):
        lines.append(line)
        if each.hint:
            lines.append(f"    {each.hint}" if each.hint.startswith("did you mean") else f"    try: {each.hint}")
    return _text(lines)


def _devices(account: Account) -> str:
    if not account.devices:
        return ""
    title = f"Devices on {account.node}" if account.node else "Devices"
    if account.node and account.code not in _HAS_DEVICES:
        title = f"It would get on {account.node}"
    shown = account.devices[:_DEVICES_SHOWN]
    lines = [title, *_align([_device(each) for each in shown], "  ")]
    if len(shown) < len(account.devices):
        lines.append(f"  and {len(account.devices) - len(shown)} more")
    return _text(lines)


def _device(device: HeldDevice) -> tuple[str, str, str]:
    amounts = ", ".join(f"{name} {amount}" for name, amount in device.consumed.items())
    share = f"a share{f' of {amounts}' if amounts else ''}" if device.share_id or amounts else ""
    return device.path, f"for {device.request} of {device.claim}", "looks only" if device.is_admin else share


def _refusals(refusals: Sequence[Refused]) -> str:
    if not refusals:
        return ""
    rows = [(f"{each.count:>4} {each.text}", each.code, _name(each)) for each in refusals]
    return _text(["Nodes", *_align(rows, "")])


def _name(refused: Refused) -> str:
    more = refused.count - len(refused.nodes)
    return ", ".join(refused.nodes) + (f" and {more} more" if more > 0 else "")


def _miss(miss: Miss) -> Iterator[str]:
    lines = [f"Closest: {miss.node}"]
    lines += [f"  {text}" for text in (miss.conflict, miss.error) if text]
    lines += [f"  {each.text}   {each.code}" for each in miss.pools]
    claims = {each.claim for each in miss.requests}
    for each in miss.requests:
        if each.reasons or each.fit < each.wanted:
            whose = f" of {each.claim}" if len(claims) > 1 else ""
            lines.append(f"  request {each.request}{whose}, class {each.device_class}: {each.text}")
            lines += _reasons(each)
    yield _text(lines)
    if miss.ways_out:
        yield _text([f"On {miss.node} it would fit", *_align([(each.text, each.code) for each in miss.ways_out], "  ")])
    elif not miss.error:
        yield f"No single change that was tried would make it fit on {miss.node}\n"


def _reasons(fare: RequestFare) -> Iterable[str]:
    return _align([(f"{each.count} {each.text}", each.code) for each in fare.reasons], "    ")


def _align(rows: Sequence[Sequence[str]], indent: str) -> Iterator[str]:
    """Columns three spaces apart, as wide as what is in them; the first one not wider than half a page."""
    if not rows:
        return
    widths = [min(max(len(row[column]) for row in rows), 100) for column in range(len(rows[0]))]
    for row in rows:
        yield (indent + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
