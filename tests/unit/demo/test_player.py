"""Examples without a cluster, played; those with one are in tests/examples."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from dray.demo.cluster import Cluster
from dray.demo.commands import Done
from dray.demo.example import Example, Scene, Step
from dray.demo.player import Surroundings, Unmet, play
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import MemoryLog


class Witness:
    """An audience that remembers."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def opens(self, cluster: Cluster) -> None:
        self.heard.append(cluster.command)

    def says(self, text: str) -> None:
        self.heard.append(text)

    def runs(self, line: str) -> None:
        self.heard.append(f"$ {line}")

    def prints(self, done: Done) -> None:
        self.heard.append(str(done.code))

    def waits(self, title: str) -> AbstractContextManager[object]:
        return nullcontext(title)


def perform(*steps: Step, folder: Path) -> tuple[int, list[str]]:
    around = Surroundings(folder, {"PATH": str(folder)}, SystemClock(), SystemEntropy(), MemoryLog())
    witness = Witness()
    facts = asyncio.run(play(Example("x", "X", "", (Scene(steps),)), around, witness))
    return facts, witness.heard


def test_commands_are_told_and_counted(tmp_path: Path) -> None:
    facts, heard = perform(
        Step("dray version", "First.", ("Kubernetes",), ("Docker",)), Step("dray check", fails=True), folder=tmp_path
    )
    assert (facts, heard) == (3, ["First.", "$ dray version", "0", "$ dray check", "2"])


@pytest.mark.parametrize(
    "step",
    [
        Step("dray version", fails=True),
        Step("dray check"),
        Step("dray version", prints=("nothing of the kind",)),
        Step("dray version", hides=("Kubernetes",)),
    ],
)
def test_what_comes_out_otherwise_is_told(tmp_path: Path, step: Step) -> None:
    with pytest.raises(Unmet, match=f"after `{step.run}`: it "):
        perform(step, folder=tmp_path)


def test_of_many_faults_the_first_are_told(tmp_path: Path) -> None:
    with pytest.raises(Unmet, match=r"; and 2 more$"):
        perform(Step("dray version", prints=tuple("none " + each for each in "abcdefg")), folder=tmp_path)
