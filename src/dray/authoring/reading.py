"""From the texts of files to drafts: slips are read over, what cannot be read is told and left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from dray.api.yamltext import YamlError
from dray.authoring.drafts import Draft
from dray.authoring.findings import Finding, find_rule
from dray.authoring.planting import Planting, parse_tree
from dray.authoring.sources import Chunk, Slip, split_source
from dray.authoring.tree import Tree

__all__ = ["Document", "Manuscript", "find", "read_manuscript"]

_ELLIPSES: Final = ("...", "\u2026")


@dataclass(slots=True)
class Document:
    """One document of a file: the objects in it, several for a List."""

    chunk: Chunk
    drafts: list[Draft] = field(default_factory=list)
    fault: str = ""
    """Why it could not be read."""
    tail: tuple[str, ...] = ()
    """Lines behind the last object."""
    remarks: list[str] = field(default_factory=list)
    """Every comment in it."""

    @property
    def original(self) -> str:
        """Its text as it is in the file, without the separator."""
        lines = list(self.chunk.original)
        while lines and not lines[0].strip():
            lines.pop(0)
        return "\n".join(lines).rstrip() + "\n"


@dataclass(slots=True)
class Manuscript:
    """A file: its documents, and what was found in reading it."""

    file: str
    documents: list[Document] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def drafts(self) -> Iterator[Draft]:
        """All objects in order."""
        for document in self.documents:
            yield from document.drafts


def find(rule: str, file: str, line: int, message: str, hint: str = "") -> Finding:
    """A finding about a document."""
    return Finding(rule, find_rule(rule).severity, file, line, "", message, hint or None)


def read_manuscript(text: str, file: str) -> Manuscript:
    """Read everything that can be read."""
    manuscript = Manuscript(file)
    for chunk in split_source(text):
        manuscript.findings += [find(slip.rule, file, slip.line, slip.message, slip.hint) for slip in chunk.slips]
        document = Document(chunk)
        try:
            planting = parse_tree(chunk.text, first_line=chunk.first_line)
        except YamlError as fault:
            document.fault = f"line {fault.line}: {fault.message}"
            manuscript.findings.append(find("yaml-syntax", file, fault.line, fault.message))
            manuscript.documents.append(document)
            continue
        manuscript.documents.append(document)
        if planting is not None:
            _fill(manuscript, document, planting)
    return manuscript


def _fill(manuscript: Manuscript, document: Document, planting: Planting) -> None:
    tree, document.tail, document.remarks = planting.tree, planting.tail, planting.remarks
    for line in _drop_ellipses(tree):
        slip = Slip(
            "ellipsis", line, "an ellipsis stands for what is not shown", "write it out, or remove the ellipsis"
        )
        document.chunk.slips.append(slip)
        manuscript.findings.append(find(slip.rule, manuscript.file, slip.line, slip.message, slip.hint))
    for part in tree.walk():
        if part.line in document.chunk.left_out and part.value in (None, {}, []):
            part.is_left_out = True
    for part in _objects(tree):
        if isinstance(part.value, dict):
            is_alone = part is tree
            former = part.text_at("apiVersion")
            draft = Draft(manuscript.file, part.line, document.original, part.json(), part, former, is_alone=is_alone)
            document.drafts.append(draft)
        else:
            message = "an object is a map with apiVersion and kind, not a list or text"
            document.fault = document.fault or message
            manuscript.findings.append(find("not-an-object", manuscript.file, part.line, message))


def _drop_ellipses(tree: Tree) -> Iterator[int]:
    """Take out ellipses that are values to YAML, within brackets and braces. Their lines are returned."""
    for part in list(tree.walk()):
        shown = [each for each in part.items if each.raw not in _ELLIPSES]
        if isinstance(part.value, list) and len(shown) < len(part.items):
            yield part.line
            part.value, part.is_left_out = shown, not shown
        for name, each in list(part.fields.items()):
            if name in _ELLIPSES and each.value is None:
                yield each.line
                del part.fields[name]
            elif each.raw in _ELLIPSES:
                yield each.line
                each.value, each.is_left_out = None, True


def _objects(tree: Tree) -> Iterator[Tree]:
    """The objects of a List, each with paths of its own, or the object itself."""
    items = tree.find("items")
    if items is None or not tree.text_at("kind").endswith("List") or not isinstance(items.value, list):
        yield tree
        return
    for item in items.items:
        prefix = f"{item.path}."
        for part in item.walk():
            part.path = part.path.removeprefix(prefix)
        item.path = ""
        yield item
