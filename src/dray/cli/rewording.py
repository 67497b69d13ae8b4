"""The words of a command line once more, for a process in the background that does the same."""

from collections.abc import Iterator
from typing import Any

import typer

__all__ = ["reword"]


def reword(ctx: typer.Context, *, without: str) -> list[str]:
    """The words after `dray`: what was given on the command line, save for one option of the verb."""
    root: Any = ctx.parent
    return [*_list_words(root, ""), str(ctx.info_name), *_list_words(ctx, without)]


def _list_words(ctx: Any, without: str) -> Iterator[str]:  # noqa: ANN401  # typer keeps its types to itself
    """The options of one command that were given, not those that have their default or come from a variable."""
    for each in ctx.command.params:
        source = ctx.get_parameter_source(each.name)
        if each.name == without or source is None or source.name != "COMMANDLINE":
            continue
        value = ctx.params[each.name]
        if isinstance(value, bool):
            yield each.opts[0] if value else each.secondary_opts[0]
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                yield from (each.opts[0], str(one))
