"""What pages name is there: verbs with their options, modules, and manifests that an API server takes."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from dray.api.yamltext import parse_yaml_documents
from dray.app.offline import check_offline
from dray.app.wire import wire_clock, wire_offline_context, wire_registry
from dray.cli.main import app
from dray.cli.verbtable import VERBS, load_verb
from dray.scheduler.configuration import API_VERSION, decode_configuration

ROOT = Path(__file__).parents[2]
PAGES = [
    file.relative_to(ROOT).as_posix()
    for file in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.joinpath("docs").rglob("*.md"))]
    if "reference" not in file.parts
]
BROKEN_ON_PURPOSE = {"docs/lint-rules.md"}
"""Pages whose manifests have faults; tests/house/test_lint_rules.py holds each to its fault."""
GLOBAL = {option for each in get_command(app).params for option in each.opts}


def read(page: str) -> str:
    return ROOT.joinpath(page).read_text(encoding="utf-8")


def commands(page: str) -> list[str]:
    """Every command of dray that the page speaks of."""
    inline = re.findall(r"`dray ((?!is |has |runs )[^`\n]+)`", read(page))
    shown = re.findall(r"^\$ dray ([^\n#|]+)", read(page), re.MULTILINE)
    scripts = [
        line
        for fence in re.findall(r"^```sh\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL)
        for line in re.findall(r"^dray ([^\n#]+)", fence, re.MULTILINE)
    ]
    return inline + shown + scripts


def unknown_words(command: str) -> Iterator[str]:
    """Verbs and options that dray has not."""
    words = [word.partition("=")[0] for word in command.replace("|", " ").split()]
    while words and words[0] in GLOBAL - {"--help"}:
        words = words[2:]
    if not words or words[0].startswith("-"):
        yield from (word for word in words[:1] if word not in GLOBAL)
        return
    if words[0] not in VERBS:
        yield words[0]
        return
    verb: Any = load_verb(words[0])  # typer keeps the type of commands in groups to itself
    for word in words[1:]:
        if isinstance(verb, TyperGroup) and word in verb.commands:
            verb = verb.commands[word]
        elif word.startswith("-") and word != "-":
            known = {option for each in verb.params for option in (*each.opts, *each.secondary_opts)}
            if word not in known | {"--help"}:
                yield word


def is_module(name: str) -> bool:
    """Whether a name leads to a module, or to something that is in one."""
    for candidate in (name, name.rpartition(".")[0]):
        try:
            if importlib.util.find_spec(candidate) is not None:
                return True
        except ModuleNotFoundError:
            continue
    return False


@pytest.mark.parametrize("page", PAGES)
def test_commands_have_the_verbs_and_options_that_are_named(page: str) -> None:
    assert {command: found for command in commands(page) if (found := list(unknown_words(command)))} == {}


def test_words_that_are_unknown_are_found() -> None:
    assert list(unknown_words("explain pod x --frobnicate")) == ["--frobnicate"]
    assert list(unknown_words("expain pod x")) == ["expain"]
    assert list(unknown_words("--log json up -d --only apiserver")) == []


@pytest.mark.parametrize("page", PAGES)
def test_modules_that_are_named_are_there(page: str) -> None:
    named = set(re.findall(r"`(dray\.(?!dev|db|run|log)[a-z_]+(?:\.\w+)*)`", read(page)))
    assert sorted(name for name in named if not is_module(name)) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in BROKEN_ON_PURPOSE])
def test_manifests_are_sound(page: str) -> None:
    registry, context = wire_registry(), wire_offline_context(wire_clock())
    for fence in re.findall(r"^```yaml[^\n]*\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL):
        if "apiVersion:" not in fence:
            continue
        for document in parse_yaml_documents(fence):
            if API_VERSION.encode() in document.json:
                decode_configuration(document.json)
            else:
                report = check_offline(document.json, registry, context)
                assert (report.title, report.findings) == (report.title, ())
