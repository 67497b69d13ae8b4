"""Chance: uids, name suffixes and jitter, from the system or from a seed.

A run with `SeededEntropy` and a `FakeClock` repeats to the letter.
"""

import random
import uuid
from typing import Final, Protocol

__all__ = ["SUFFIX_ALPHABET", "Entropy", "SeededEntropy", "SystemEntropy"]

SUFFIX_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Letters of generated names, those of Kubernetes: no vowels, so no words; no digit that looks like a letter."""


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
        return _make_uid(self._generator)

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
        self._machine = random.SystemRandom()

    def uid(self) -> str:
        """A random UUID of version 4."""
        return _make_uid(self._machine)


class SeededEntropy(_RandomEntropy):
    """The same seed gives the same sequence on every machine."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed))


def _make_uid(generator: random.Random) -> str:
    return str(uuid.UUID(int=generator.getrandbits(128), version=4))
