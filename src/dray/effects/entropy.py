"""Chance: uids, name suffixes and jitter, from the system or from a seed.

A run with `SeededEntropy` and a `FakeClock` repeats to the letter.
"""

import os
import random
import uuid
from typing import Final, Protocol

__all__ = ["SUFFIX_ALPHABET", "Entropy", "SeededEntropy", "SystemEntropy"]

SUFFIX_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Letters of generated names, those of Kubernetes: no vowels, so no words; no digit that looks like a letter."""

_UID_BYTES: Final = 16
_UIDS_AT_ONCE: Final = 64


class Entropy(Protocol):
    """The three things that chance decides."""

    def uid(self) -> str:
        """A fresh object uid: a random UUID."""
        ...

    def suffix(self, length: int = 5) -> str:
        """The end of a generated name."""
        ...

    def jitter(self, seconds: float, spread: float = 0.1) -> float:
        """A delay from `seconds` up to `seconds * (1 + spread)`, so that retries of many do not meet."""
        ...


class _RandomEntropy:
    """Everything drawn from one generator."""

    def __init__(self, generator: random.Random) -> None:
        self._generator = generator

    def uid(self) -> str:
        """A random UUID of version 4."""
        return str(uuid.UUID(int=self._generator.getrandbits(128), version=4))

    def suffix(self, length: int = 5) -> str:
        """Letters of `SUFFIX_ALPHABET`."""
        return "".join(self._generator.choices(SUFFIX_ALPHABET, k=length))

    def jitter(self, seconds: float, spread: float = 0.1) -> float:
        """Uniform between the two ends."""
        return seconds * (1 + self._generator.random() * spread)


class SystemEntropy(_RandomEntropy):
    """Uids from the machine's generator, so that none is seen twice; the rest from a cheaper one that it seeds."""

    def __init__(self) -> None:
        super().__init__(random.Random())
        self._drawn: list[bytes] = []

    def uid(self) -> str:
        """A random UUID of version 4."""
        if not self._drawn:
            drawn = os.urandom(_UID_BYTES * _UIDS_AT_ONCE)  # one question to the machine for many
            self._drawn = [drawn[at : at + _UID_BYTES] for at in range(0, len(drawn), _UID_BYTES)]
        return str(uuid.UUID(bytes=self._drawn.pop(), version=4))


class SeededEntropy(_RandomEntropy):
    """The same seed gives the same sequence on every machine."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed))
