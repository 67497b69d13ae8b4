"""Which fields of a kind a field selector may name, and what they hold."""

from collections.abc import Callable
from typing import TypeVar

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.errors import BadRequest, ObjectRef
from dray.values.fieldselectors import FieldSelector

__all__ = ["compile_field_selector"]

K = TypeVar("K", bound=ApiObject)

_NAME, _NAMESPACE = "metadata.name", "metadata.namespace"


def compile_field_selector(kind: Kind[K], version: str, selector: FieldSelector) -> Callable[[K], bool]:
    """A function that says whether an object matches. Raises BadRequest for a field the kind does not offer."""
    readers: dict[str, Callable[[K], str]] = {_NAME: lambda thing: thing.metadata.name}
    if kind.is_namespaced or not _lists_its_own_fields(kind):
        readers[_NAMESPACE] = lambda thing: thing.metadata.namespace
    readers |= kind.field_selectors
    for requirement in selector.requirements:
        if requirement.field not in readers:
            raise _refuse(kind, version, requirement.field)
    return lambda thing: selector.matches_by(lambda name: readers[name](thing))


def _lists_its_own_fields(kind: Kind[K]) -> bool:
    """Core kinds with fields of their own say themselves which metadata they offer: no namespace if they have none."""
    return kind.group == "" and bool(kind.field_selectors)


def _refuse(kind: Kind[K], version: str, name: str) -> BadRequest:
    if not kind.field_selectors:
        text = f'"{name}" is not a known field selector: only "{_NAME}", "{_NAMESPACE}"'
    elif kind.group in ("", "events.k8s.io"):
        text = f"field label not supported: {name}"
    else:
        text = f"field label not supported for {kind.api_version(version)}, Kind={kind.name}: {name}"
    return BadRequest(text, ObjectRef(group=kind.group, kind=kind.name, resource=kind.plural))
