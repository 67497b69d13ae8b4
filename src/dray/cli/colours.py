"""Colours, for terminals alone, and for those who do not object by NO_COLOR."""

import sys

import typer

from dray.app.settings import system_environment

__all__ = ["paint"]


def paint(text: str, *, colour: str = "", is_bold: bool = False) -> str:
    """A text as it is to be printed; unchanged where there are no colours."""
    if not sys.stdout.isatty() or system_environment().get("NO_COLOR"):
        return text
    return typer.style(text, fg=colour or None, bold=is_bold or None)
