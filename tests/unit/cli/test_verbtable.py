import re
import shlex

import pytest
from typer.core import TyperGroup

from dray.cli.verbtable import VERBS, load_verb
from tools.generate_docs import list_verbs, render_help


def list_examples() -> list[str]:
    """The commands that helps show, indented by four blanks, with what they are for three blanks behind them."""
    return [line for path in list_verbs() for line in _read_examples(path)]


def _read_examples(path: list[str]) -> list[str]:
    return re.findall(r"^ {4}((?:\S+ )*?dray \S.*?)(?: {3,}.*)?$", render_help(path), re.MULTILINE)


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_the_verb_says(name: str) -> None:
    command = load_verb(name)
    first = (command.help or "").split("\n\n")[0]
    assert " ".join(first.split()) == VERBS[name].help


def test_the_list_of_verbs_cuts_nothing_off() -> None:
    usage, *rest = render_help([]).splitlines()
    assert usage == "Usage: dray [OPTIONS] COMMAND [ARGS]..."
    assert [line for line in rest if "..." in line] == []


def test_groups_keep_their_verbs() -> None:
    group = load_verb("bench")
    assert isinstance(group, TyperGroup)
    assert "scheduling" in group.commands


def test_verbs_are_listed_in_order() -> None:
    assert list(VERBS) == sorted(VERBS)


@pytest.mark.parametrize("line", list_examples())
def test_examples_in_helps_are_commands(line: str) -> None:
    for stage in re.split(r" \| | > \S+", line):
        words = [word for word in shlex.split(stage) if "=" not in word or word.startswith("app=")]
        if words[:1] != ["dray"]:
            continue
        if words[1] == "--config":
            del words[1:3]
        command = load_verb(words[1])
        rest = words[2:]
        while isinstance(command, TyperGroup):
            command = command.commands[rest.pop(0)]  # type: ignore[assignment]  # typer keeps its types to itself
        assert command.make_context(words[1], rest) is not None


def test_every_verb_shows_examples() -> None:
    """Verbs that do one thing, with nothing to choose, need none."""
    shown = {shlex.split(line.partition("dray ")[2])[0] for line in list_examples()}
    assert set(VERBS) - shown <= {"version"}
