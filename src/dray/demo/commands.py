"""Runs the commands of examples as a person would: kubectl if there is one, else dray's own verbs."""

import asyncio
import shlex
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

__all__ = ["Commands", "Done", "find_kubectl"]

_INSTEAD: Final = {"describe": "explain"}
"""What comes closest among dray's verbs, where that has another name than kubectl's."""
_WAITS: Final = 1
"""How `dray explain` ends where something waits."""


class Done(Struct, frozen=True):
    """How a command ended, and everything that it printed."""

    code: int
    output: str


def find_kubectl(environment: Mapping[str, str]) -> str | None:
    """The kubectl in the path."""
    return shutil.which("kubectl", path=environment.get("PATH"))


class Commands:
    """Commands in the folder that holds `examples`, for one cluster."""

    def __init__(self, place: Path, environment: Mapping[str, str], kubeconfig: Path | None) -> None:
        self._place = place
        self._environment = dict(environment) | {"PYTHONUTF8": "1"}
        if kubeconfig is not None:
            self._environment |= {"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(kubeconfig.parent / "cache")}
        self._kubectl = find_kubectl(environment)

    @property
    def has_kubectl(self) -> bool:
        """Whether commands of kubectl are run by it."""
        return self._kubectl is not None

    def phrase(self, line: str) -> str:
        """The command as it is run: without kubectl, the verb of dray that answers the same question."""
        program, verb, *rest = line.split(" ")
        if program != "kubectl" or self.has_kubectl:
            return line
        return " ".join(["dray", _INSTEAD.get(verb, verb), *rest])

    async def run(self, line: str) -> Done:
        """Run a command to its end; its words are split as a shell would.

        What stands in for kubectl ends as that would: describing a pod that waits is no failure.
        """
        program, *words = shlex.split(self.phrase(line))
        start = [self._kubectl or program] if program == "kubectl" else [sys.executable, "-m", "dray"]
        process = await asyncio.create_subprocess_exec(
            *start,
            *words,
            cwd=self._place,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
        )
        try:
            output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        code = process.returncode or 0
        is_described = code == _WAITS and line != self.phrase(line) and words[0] in _INSTEAD.values()
        return Done(0 if is_described else code, output.decode(errors="replace"))
