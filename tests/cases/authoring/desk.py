"""What lies on the desk of someone who writes manifests: texts, and what is known besides them.

Nothing here reads files or clusters. What is known of devices is what the simulated profiles publish, as without a
cluster, unless a case has slices of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from dray.app.linting import OfflineJudge, know_profiles
from dray.app.wire import wire_offline_context, wire_registry
from dray.authoring.converting import Conversion, convert
from dray.authoring.findings import Finding
from dray.authoring.judging import Present, Yardstick
from dray.authoring.linting import lint
from dray.authoring.reading import read_manuscript
from dray.effects.clock import FakeClock

__all__ = ["convert_texts", "draw_yardstick", "lint_texts"]


def draw_yardstick(present: Present | None = None) -> Yardstick:
    """What manifests are held against where there is no cluster."""
    judge = OfflineJudge(wire_registry(), wire_offline_context(FakeClock()))
    return Yardstick(know_profiles(), judge, present or Present())


def lint_texts(texts: Mapping[str, str], yardstick: Yardstick | None = None) -> list[Finding]:
    """The findings in files, given by their names."""
    manuscripts = [read_manuscript(text, name) for name, text in texts.items()]
    return lint(manuscripts, wire_registry(), yardstick or draw_yardstick())


def convert_texts(texts: Mapping[str, str]) -> Conversion:
    """The files as v1."""
    manuscripts = [read_manuscript(text, name) for name, text in texts.items()]
    return convert(manuscripts, wire_registry(), draw_yardstick())
