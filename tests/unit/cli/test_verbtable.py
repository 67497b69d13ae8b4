import pytest
from typer.core import TyperGroup

from dray.cli.verbtable import VERBS, load_verb


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_the_verb_says(name: str) -> None:
    command = load_verb(name)
    first = (command.help or "").split("\n\n")[0]
    assert " ".join(first.split()) == VERBS[name].help


def test_groups_keep_their_verbs() -> None:
    group = load_verb("bench")
    assert isinstance(group, TyperGroup)
    assert "scheduling" in group.commands


def test_verbs_are_listed_in_order() -> None:
    assert list(VERBS) == sorted(VERBS)
