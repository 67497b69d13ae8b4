"""References from one object to another, by name.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from dray.api.struct import REQUIRED, ApiStruct, always

__all__ = ["LocalObjectReference", "ObjectReference", "TypedLocalObjectReference", "TypedObjectReference"]


class LocalObjectReference(ApiStruct):
    """An object of a fixed kind in the same namespace."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    name: Annotated[str, Meta(description="Name of the object.", extra={"default": ""})] = ""


class ObjectReference(ApiStruct):
    """Any object, or a part of it."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    kind: Annotated[str, Meta(description="Kind of the object.")] = ""
    namespace: Annotated[str, Meta(description="Namespace of the object.")] = ""
    name: Annotated[str, Meta(description="Name of the object.")] = ""
    uid: Annotated[str, Meta(description="Uid of the object.")] = ""
    api_version: Annotated[str, Meta(description="API version of the object.")] = ""
    resource_version: Annotated[str, Meta(description="Exactly this revision of the object.")] = ""
    field_path: Annotated[str, Meta(description="The part that is meant, such as spec.containers{name}.")] = ""


class TypedLocalObjectReference(ApiStruct):
    """An object of a stated kind in the same namespace."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    api_group: Annotated[str | None, Meta(description="API group of the object; absent is the core group.")] = None
    kind: Annotated[str, Meta(description="Kind of the object.", extra=REQUIRED)] = always(str)
    name: Annotated[str, Meta(description="Name of the object.", extra=REQUIRED)] = always(str)


class TypedObjectReference(ApiStruct):
    """An object of a stated kind, in a namespace of its own if given."""

    api_group: Annotated[str | None, Meta(description="API group of the object; absent is the core group.")] = None
    kind: Annotated[str, Meta(description="Kind of the object.", extra=REQUIRED)] = always(str)
    name: Annotated[str, Meta(description="Name of the object.", extra=REQUIRED)] = always(str)
    namespace: Annotated[
        str | None, Meta(description="Namespace of the object; absent is the namespace of the reference.")
    ] = None
