"""All controllers of a cluster, on shared views, each of which can be left out by name.

The names are those of kube-controller-manager's `--controllers`, so that dray runs beside it: what one of them does,
the other leaves out.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dray.controllers.claimrelease import ClaimRelease
from dray.controllers.claims_from_templates import ClaimsFromTemplates
from dray.controllers.commons import Commons
from dray.controllers.runtime import Controller

__all__ = ["CONTROLLER_NAMES", "Controllers", "UnknownController", "choose_controllers"]


@dataclass(frozen=True, slots=True)
class _Part:
    """One controller as Kubernetes counts them, and what does its work here."""

    name: str
    makers: Sequence[Callable[[Commons], Any]]
    aliases: tuple[str, ...] = ()


_PARTS: Final = (
    _Part("resourceclaim-controller", (ClaimsFromTemplates, ClaimRelease), ("resource-claim-controller",)),
)

CONTROLLER_NAMES: Final = tuple(part.name for part in _PARTS)
"""Every controller that can be chosen."""


class UnknownController(ValueError):
    """A choice names what is no controller."""


def choose_controllers(choices: Iterable[str]) -> frozenset[str]:
    """The names that a choice leaves: `*` means all, `-name` leaves one out, `name` takes one in.

    The first entry for a name counts. Raises UnknownController.
    """
    asked = list(choices)
    chosen: set[str] = set()
    named = {name: part.name for part in _PARTS for name in (part.name, *part.aliases)}
    for choice in asked:
        if choice != "*" and choice.removeprefix("-") not in named:
            raise UnknownController(f"{choice.removeprefix('-')!r} is not in the list of known controllers")
    for part in _PARTS:
        names = (part.name, *part.aliases)
        verdicts = [choice for choice in asked if choice.removeprefix("-") in names]
        if not verdicts[0].startswith("-") if verdicts else "*" in asked:
            chosen.add(part.name)
    return frozenset(chosen)


class Controllers:
    """The chosen controllers. Reads views of informers that someone else runs."""

    def __init__(self, commons: Commons, chosen: frozenset[str]) -> None:
        self._commons = commons
        self._controllers: tuple[Controller[Any], ...] = tuple(
            make(commons).controller for part in _PARTS if part.name in chosen for make in part.makers
        )

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do for what was heard of so far."""
        recorders = self._commons.recorders
        return all(each.is_idle for each in self._controllers) and all(each.is_idle for each in recorders)

    async def run(self) -> None:
        """Work until cancelled. Controllers start once all kinds were heard of."""
        async with asyncio.TaskGroup() as tasks:
            for recorder in self._commons.recorders:
                tasks.create_task(recorder.run(), name="events")
            await self._commons.wait_synced()
            for controller in self._controllers:
                tasks.create_task(controller.run(), name=controller.name)
