"""Manifests of any version as v1: what need not change stays word by word, each change has a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from dray.api.registry import Registry
from dray.authoring.drafts import Draft
from dray.authoring.judging import Yardstick
from dray.authoring.reading import Document, Manuscript
from dray.authoring.rewriting.doubles import part_doubles
from dray.authoring.rewriting.objects import rewrite
from dray.authoring.yamlwriting import write_yaml

__all__ = ["Conversion", "convert"]


class Conversion(Struct, frozen=True):
    """What came of it. Lines of problems begin with their place."""

    text: str
    problems: tuple[str, ...]
    """What could not be converted, or is still refused by the API server."""
    missing: tuple[str, ...]
    """Facts that only the author knows; the text has a comment at the place of each."""


def convert(manuscripts: Sequence[Manuscript], registry: Registry, yardstick: Yardstick) -> Conversion:
    """Rewrite all of it, as one text."""
    drafts = [draft for manuscript in manuscripts for draft in manuscript.drafts()]
    rewrite(drafts, registry, yardstick.knowledge)
    part_doubles(drafts)
    parts: list[str] = []
    problems: list[str] = []
    for manuscript in manuscripts:
        for document in manuscript.documents:
            parts += _write(document)
            problems += _problems(document, manuscript.file, registry, yardstick)
    missing = [f"{draft.file}:{draft.line}: {draft.title}: {fact}" for draft in drafts for fact in draft.missing]
    return Conversion("---\n".join(parts), tuple(problems), tuple(missing))


def _write(document: Document) -> Iterator[str]:
    """The documents that come of one."""
    slips = "".join(f"# line {slip.line}: {slip.message}\n" for slip in document.chunk.slips)
    if not all(draft.is_alone for draft in document.drafts):
        slips += "# the items of a List stand on their own\n"
    if document.fault:
        yield f"# not converted: {document.fault}\n"
        return
    if not document.chunk.slips and not any(each.is_touched for each in document.drafts):
        yield document.original
        return
    written: list[str] = []
    for draft in document.drafts:
        written += map(write_yaml, draft.additions)
        written.append(_write_draft(draft, document.tail if draft is document.drafts[-1] else ()))
    lost = "".join(f"# {remark}\n" for remark in document.remarks if not any(remark in each for each in written))
    yield slips + lost + "".join(written[:1])
    yield from written[1:]


def _write_draft(draft: Draft, tail: Sequence[str]) -> str:
    if draft.refusal:
        return f"# not converted: {draft.title}: {draft.refusal}\n"
    if draft.is_dropped:
        return "".join(f"# {comment}\n" for comment in draft.tree.comments)
    return write_yaml(draft.tree, tail)


def _problems(document: Document, file: str, registry: Registry, yardstick: Yardstick) -> Iterator[str]:
    if document.fault:
        yield f"{file}: {document.fault}"
    for draft in document.drafts:
        place = f"{file}:{draft.line}: {draft.title}"
        if draft.refusal:
            yield f"{place} is not converted: {draft.refusal}"
        elif not draft.is_dropped and registry.find_kind(draft.api_version, draft.kind) is not None:
            faults = yardstick.judge.check(draft.tree.json()).faults
            yield from (f"{place} is still refused: {each.path}: {each.message}" for each in faults)
