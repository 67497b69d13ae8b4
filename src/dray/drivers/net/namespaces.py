"""Network namespaces of pods: made, entered and removed by name, as `ip netns` has them.

A namespace is entered by a thread of its own, which ends there: no thread that does other work ever sees it.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from pyroute2 import netns  # type: ignore[import-untyped]

from dray.errors import DrayError

__all__ = ["NamespaceError", "Namespaces"]

T = TypeVar("T")

_CLONE_NEWNET: Final = 0x40000000
_MS_BIND: Final = 4096
_MNT_DETACH: Final = 2


class NamespaceError(DrayError):
    """A network namespace cannot be made, entered or removed."""


class Namespaces:
    """The namespaces below one folder."""

    def __init__(self, folder: Path = Path("/var/run/netns")) -> None:
        self._folder = folder
        self._libc = ctypes.CDLL(None, use_errno=True)

    def path(self, name: str) -> Path:
        """Where a namespace is to be found, whether it is there or not."""
        return self._folder / name

    def names(self, prefix: str) -> list[str]:
        """The namespaces whose names begin so."""
        try:
            return sorted(each.name for each in self._folder.iterdir() if each.name.startswith(prefix))
        except OSError:
            return []

    def ensure(self, name: str) -> None:
        """Make a namespace if it is not there. Raises NamespaceError."""
        path = self.path(name)
        if path.exists():
            try:
                self.inside(name, lambda: None)
            except NamespaceError:
                path.unlink()  # a file that nothing was bound to: whoever made it died halfway
            else:
                return
        self._folder.mkdir(parents=True, exist_ok=True)
        path.touch(exist_ok=False)
        try:
            _run_in_thread(lambda: self._make(path))
        except BaseException:
            path.unlink()
            raise

    def remove(self, name: str) -> None:
        """Remove a namespace; what is left in it goes where the kernel puts it. Missing ones are a no-op."""
        path = self.path(name)
        self._libc.umount2(bytes(path), _MNT_DETACH)
        path.unlink(missing_ok=True)

    def inside(self, name: str, work: Callable[[], T]) -> T:
        """Do something in a namespace, on a thread of its own. Raises NamespaceError if it cannot be entered."""

        def enter() -> T:
            try:
                with open(self.path(name)) as place:
                    netns.setns(place.fileno())
            except OSError as fault:
                raise NamespaceError(f"network namespace {name} cannot be entered: {fault.strerror}") from fault
            return work()

        return _run_in_thread(enter)

    def _make(self, path: Path) -> None:
        self._ask(self._libc.unshare(_CLONE_NEWNET), path)
        # Of this thread, not of the process: the namespace is this thread's alone until it is bound.
        here = b"/proc/thread-self/ns/net"
        self._ask(self._libc.mount(here, bytes(path), b"none", _MS_BIND, None), path)

    def _ask(self, answer: int, path: Path) -> None:
        if answer != 0:
            text = os.strerror(ctypes.get_errno())
            raise NamespaceError(f"network namespace {path.name} cannot be made: {text}")


def _run_in_thread(work: Callable[[], T]) -> T:
    """Run something on a thread that is used for nothing else, before or after."""
    results: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as fault:  # handed to the caller, whose fault it is
            faults.append(fault)

    thread = threading.Thread(target=run, name="network namespace")
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return results[0]
