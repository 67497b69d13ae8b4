"""Failures on command: annotations of a node say which of its simulated devices have failed, and which are held.

Each such device has an annotation of its own, so that failing one and healing another never collide, and nobody has
to read before writing. A device is held where a program that is no pod has it open.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from dray.api.core.node import Node
from dray.api.resource.request import TaintEffect
from dray.client.changes import Change

__all__ = [
    "FAULT_PREFIX",
    "HOLD_PREFIX",
    "Fault",
    "FaultBoard",
    "find_faults",
    "find_holds",
    "format_fault",
    "parse_fault",
]

FAULT_PREFIX: Final = "fail.sim.dray.dev/"
"""Of the annotation; the device's name follows. Its value is the effect, and the reason if there is one."""
HOLD_PREFIX: Final = "hold.sim.dray.dev/"
"""Of the annotation; the device's name follows. Its value says who has the device open."""


class Fault(Struct, frozen=True):
    """A failed device. `reason` is a label value, such as the number of an XID."""

    effect: TaintEffect = TaintEffect.NO_EXECUTE
    reason: str = ""


def format_fault(fault: Fault) -> str:
    """`NoExecute`, or with a reason `NoExecute:79`."""
    return f"{fault.effect}:{fault.reason}" if fault.reason else str(fault.effect)


def parse_fault(text: str) -> Fault:
    """The inverse. An effect that is not known counts as the strongest: someone wants the device to be broken."""
    effect, _, reason = text.partition(":")
    known = effect in tuple(TaintEffect)
    return Fault(TaintEffect(effect) if known else TaintEffect.NO_EXECUTE, reason if known else "")


def find_faults(node: Node) -> dict[str, Fault]:
    """The failed devices of a node, by name."""
    return {
        name.removeprefix(FAULT_PREFIX): parse_fault(text)
        for name, text in sorted(node.metadata.annotations.items())
        if name.startswith(FAULT_PREFIX)
    }


def find_holds(node: Node) -> dict[str, str]:
    """Who has which devices of a node open, by name of the device."""
    return {
        name.removeprefix(HOLD_PREFIX): text
        for name, text in sorted(node.metadata.annotations.items())
        if name.startswith(HOLD_PREFIX)
    }


class FaultBoard:
    """What has failed or is held on which node. Fed with changes of nodes, it tells those who asked of faults."""

    def __init__(self) -> None:
        self._faults: dict[str, dict[str, Fault]] = {}
        self._holds: dict[str, dict[str, str]] = {}
        self._listeners: dict[str, list[Callable[[], None]]] = {}

    def find(self, node: str) -> Mapping[str, Fault]:
        """The failed devices of a node, by name."""
        return self._faults.get(node, {})

    def find_holds(self, node: str) -> Mapping[str, str]:
        """Who has which devices of a node open, by name of the device."""
        return self._holds.get(node, {})

    def note(self, change: Change[Node]) -> None:
        """Take over what a node says now; a handler for an informer of nodes."""
        node = change.name.name
        holds = find_holds(change.new) if change.new is not None else {}
        if holds:
            self._holds[node] = holds
        else:
            self._holds.pop(node, None)
        faults = find_faults(change.new) if change.new is not None else {}
        if faults == self.find(node):
            return
        if faults:
            self._faults[node] = faults
        else:
            self._faults.pop(node, None)
        for listener in self._listeners.get(node, ()):
            listener()

    def listen(self, node: str, listener: Callable[[], None]) -> None:
        """Call `listener` whenever the faults of a node are others than before."""
        self._listeners.setdefault(node, []).append(listener)

    def ignore(self, node: str, listener: Callable[[], None]) -> None:
        """The inverse; unknown listeners are a no-op."""
        kept = [each for each in self._listeners.get(node, ()) if each != listener]
        if kept:
            self._listeners[node] = kept
        else:
            self._listeners.pop(node, None)
