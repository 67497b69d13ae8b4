"""`dray version`: what is installed."""

import platform
from typing import Annotated

import typer

from dray import __version__
from dray.cli.printing import Output, render_json

__all__ = ["render_version", "show_version"]

KUBERNETES = "1.37"
"""The release whose behaviour dray follows."""


def show_version(
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
) -> None:
    """Say which version of dray this is, and which Kubernetes it follows."""
    facts = {"version": __version__, "kubernetes": KUBERNETES, "python": platform.python_version()}
    if output is Output.JSON:
        typer.echo(render_json(facts), nl=False)
    else:
        typer.echo(render_version(), nl=False)


def render_version() -> str:
    """One line for people."""
    return f"dray {__version__} (Kubernetes {KUBERNETES}, Python {platform.python_version()})\n"
