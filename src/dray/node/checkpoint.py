"""Where the agent keeps its memory of prepared claims and of devices' health: files, or nothing at all."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from dray.driver.files import write_atomically
from dray.effects.log import Log
from dray.node.core.checkpoint import decode_checkpoint, encode_checkpoint
from dray.node.core.health import HealthBook, decode_health, encode_health
from dray.node.core.prepared_claims import PreparedClaims

__all__ = ["Checkpoint", "FileCheckpoint", "NoCheckpoint", "StatefulFile"]

_CLAIMS_FILE: Final = "dra_manager_state"
_HEALTH_FILE: Final = "dra_health_state"


class Checkpoint(Protocol):
    """The agent's memory across restarts."""

    def load_claims(self) -> PreparedClaims:
        """What was saved last. Raises CheckpointCorrupt."""
        ...

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Keep the claims as they are now; returns once they survive a crash."""
        ...

    def load_health(self, log: Log) -> HealthBook:
        """What was saved last; what cannot be read is forgotten, and said so."""
        ...

    async def save_health(self, book: HealthBook) -> None:
        """Keep what is known of devices."""
        ...


class NoCheckpoint:
    """For nodes that end with the process, drivers included."""

    def load_claims(self) -> PreparedClaims:
        """Nothing is prepared at the start."""
        return PreparedClaims()

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Nothing survives, so there is nothing to wait for."""

    def load_health(self, log: Log) -> HealthBook:
        """Nothing is known at the start."""
        return HealthBook()

    async def save_health(self, book: HealthBook) -> None:
        """Nothing survives."""


class StatefulFile:
    """A file that follows something that changes. Saves that come together share one write."""

    def __init__(self, file: Path, encode: Callable[[], bytes]) -> None:
        self._file = file
        self._encode = encode
        self._asked = 0
        self._written = 0
        self._writing = asyncio.Lock()  # one write at a time; guards the file

    async def save(self) -> None:
        """Return once the present state, or a later one, is in the file."""
        self._asked += 1
        mine = self._asked
        async with self._writing:
            if self._written >= mine:
                return
            asked, text = self._asked, self._encode()
            await asyncio.to_thread(write_atomically, self._file, text, mode=0o600)
            self._written = asked


class FileCheckpoint:
    """Files below the agent's root, as a kubelet has them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, StatefulFile] = {}

    def load_claims(self) -> PreparedClaims:
        """Read the file, or begin one, so that a state folder that is lost is noticed before it matters."""
        file = self._root / _CLAIMS_FILE
        try:
            return decode_checkpoint(file.read_bytes())
        except FileNotFoundError:
            claims = PreparedClaims()
            self._root.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_atomically(file, encode_checkpoint(claims), mode=0o600)
            return claims

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Write the file, and wait for the disk."""
        await self._follow(_CLAIMS_FILE, lambda: encode_checkpoint(claims)).save()

    def load_health(self, log: Log) -> HealthBook:
        """Read the file if there is one."""
        file = self._root / _HEALTH_FILE
        try:
            return decode_health(file.read_bytes())
        except FileNotFoundError:
            return HealthBook()
        except ValueError as fault:
            log.error("health of devices is not readable", err=fault)
            return HealthBook()

    async def save_health(self, book: HealthBook) -> None:
        """Write the file."""
        await self._follow(_HEALTH_FILE, lambda: encode_health(book)).save()

    def _follow(self, name: str, encode: Callable[[], bytes]) -> StatefulFile:
        return self._files.setdefault(name, StatefulFile(self._root / name, encode))
