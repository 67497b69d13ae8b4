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
_PIPE: Final = " | "
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
        return _PIPE.join(map(self._phrase_stage, line.split(_PIPE)))

    def _phrase_stage(self, line: str) -> str:
        program, verb, *rest = line.split(" ")
        if program != "kubectl" or self.has_kubectl:
            return line
        return " ".join(["dray", _INSTEAD.get(verb, verb), *rest])

    async def run(self, line: str) -> Done:
        """Run a command to its end; its words are split as a shell would, and ` | ` hands on what one prints.

        What is handed on is not printed. What stands in for kubectl ends as that would: describing a pod that waits is
        no failure.
        """
        output, code, piped = "", 0, b""
        stages = line.split(_PIPE)
        for index, stage in enumerate(stages):
            is_last = index == len(stages) - 1
            code, printed, piped = await self._run_stage(stage, piped, is_last=is_last)
            output += printed
        return Done(code, output)

    async def _run_stage(self, line: str, given: bytes, *, is_last: bool) -> tuple[int, str, bytes]:
        """How one command ended, what it printed, and what it hands on."""
        program, *words = shlex.split(self._phrase_stage(line))
        start = [self._kubectl or program] if program == "kubectl" else [sys.executable, "-m", "dray"]
        process = await asyncio.create_subprocess_exec(
            *start,
            *words,
            cwd=self._place,
            env=self._environment,
            stdin=PIPE if given else asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=STDOUT if is_last else PIPE,
        )
        try:
            output, complaints = await process.communicate(given or None)
        finally:
            if process.returncode is None:
                process.kill()
        code = process.returncode or 0
        if not is_last:
            return code, complaints.decode(errors="replace"), output
        is_described = code == _WAITS and line != self._phrase_stage(line) and words[0] in _INSTEAD.values()
        return 0 if is_described else code, output.decode(errors="replace"), b""
