"""Objects as people name them on the command line: `pod web`, `pod/web`, `pods,resourceclaims`."""

from collections.abc import Sequence
from typing import NamedTuple

from dray.cli.access import refuse

__all__ = ["Target", "parse_targets"]


class Target(NamedTuple):
    """A kind as it was called, and the objects of it that are meant; none are all."""

    word: str
    names: tuple[str, ...] = ()


def parse_targets(words: Sequence[str]) -> list[Target]:
    """What is meant. Leaves the command where that cannot be told."""
    if any("/" in word for word in words):
        if not all(word.count("/") == 1 and all(word.split("/")) for word in words):
            raise refuse("objects are named as KIND/NAME, each of them", hint="pod/web resourceclaim/gpu")
        return [Target(kind, (name,)) for kind, name in (word.split("/") for word in words)]
    kinds, *names = words
    targets = [Target(kind, tuple(names)) for kind in kinds.split(",") if kind]
    if not targets:
        raise refuse("no kind is named", hint="dray get pods")
    return targets
