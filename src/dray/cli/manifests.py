"""Manifests as people keep them, YAML of several documents or JSON, taken apart into JSON text object by object."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from dray.api.yamltext import YamlError, parse_yaml_documents
from dray.errors import DrayError

__all__ = ["Manifest", "ManifestError", "read_manifests"]


class ManifestError(DrayError):
    """Text is neither YAML nor JSON, or holds no object; the message names the source and the line."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object as JSON text, and where it began."""

    source: str
    line: int
    json: bytes

    @property
    def place(self) -> str:
        """`claim.yaml:12`, for a person and for an editor."""
        return f"{self.source}:{self.line}"


class _Head(msgspec.Struct):
    kind: object = ""
    items: list[msgspec.Raw] | None = None


def read_manifests(text: str, source: str) -> list[Manifest]:
    """Every object in `text`, the items of a List one by one. Refuses what cannot be read, and text without objects."""
    try:
        manifests = [each for document in _documents(text, source) for each in _items_of(document)]
    except YamlError as fault:
        raise ManifestError(f"{source}:{fault.line}: {fault.message}") from fault
    if not manifests:
        raise ManifestError(f"{source} holds no objects")
    return manifests


def _documents(text: str, source: str) -> Iterator[Manifest]:
    if text.lstrip().startswith("{") and _is_json(text):
        yield Manifest(source, 1, text.encode())
        return
    for document in parse_yaml_documents(text):
        if not document.json.startswith(b"{"):
            raise ManifestError(
                f"{source}:{document.line}: an object is a map with apiVersion and kind, not a list or text"
            )
        yield Manifest(source, document.line, document.json)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def _items_of(document: Manifest) -> list[Manifest]:
    """The objects of a List, or the object itself."""
    try:
        head = msgspec.json.decode(document.json, type=_Head)
    except msgspec.ValidationError:
        return [document]  # whatever is wrong with it, the codec words it better
    if head.items is None or not str(head.kind).endswith("List"):
        return [document]
    return [Manifest(document.source, document.line, bytes(item)) for item in head.items]
