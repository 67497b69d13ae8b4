"""Every example does what it says."""

import asyncio
import os
import re
import shlex
from pathlib import Path

import pytest

from dray.cli.verbtable import load_verb
from dray.demo.commands import Commands
from dray.demo.example import Example, read_example
from dray.demo.library import find_examples, list_names
from dray.demo.player import Silence, Surroundings, play
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import MemoryLog

EXAMPLES = find_examples()
NAMES = list_names(EXAMPLES)


def facts_expected(example: Example) -> int:
    return sum(step.facts for scene in example.scenes for step in scene.steps)


def test_there_are_examples() -> None:
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_example_does_what_it_says(name: str) -> None:
    example = read_example(EXAMPLES / name, name)
    environment = dict(os.environ)  # noqa: TID251  # as a command would
    around = Surroundings(EXAMPLES.parent, environment, SystemClock(), SystemEntropy(), MemoryLog())
    assert asyncio.run(play(example, around, Silence())) == facts_expected(example) > 0


@pytest.mark.parametrize("name", NAMES)
def test_readme_begins_as_the_example_does(name: str) -> None:
    commands = []
    for scene in read_example(EXAMPLES / name, name).scenes:
        if scene.nodes:
            commands.append(scene.command)
        commands += [step.run for step in scene.steps]
    shown = re.findall(r"^\$ (.+)$", Path(EXAMPLES, name, "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == commands[: len(shown)]
    assert shown


def list_kubectl_commands() -> list[str]:
    examples = [read_example(EXAMPLES / name, name) for name in NAMES]
    lines = {step.run for example in examples for scene in example.scenes for step in scene.steps}
    return sorted(stage for line in lines for stage in line.split(" | ") if stage.startswith("kubectl "))


@pytest.mark.parametrize("line", list_kubectl_commands())
def test_command_can_do_without_kubectl(line: str, tmp_path: Path) -> None:
    _, verb, *words = shlex.split(Commands(EXAMPLES.parent, {"PATH": str(tmp_path)}, None).phrase(line))
    assert load_verb(verb).make_context(verb, words).params


@pytest.mark.parametrize("name", NAMES)
def test_readme_shows_the_commands(name: str) -> None:
    text = Path(EXAMPLES, name, "README.md").read_text(encoding="utf-8")
    for scene in read_example(EXAMPLES / name, name).scenes:
        assert not scene.nodes or scene.command in text
        assert [step.run for step in scene.steps if step.run.startswith("kubectl apply") and step.run not in text] == []
