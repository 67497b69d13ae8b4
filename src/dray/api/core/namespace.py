"""`Namespace`: a room for names; deleting it deletes everything in it."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always, always_null, list_map
from dray.values.times import Time

__all__ = ["Namespace", "NamespaceCondition", "NamespaceSpec", "NamespaceStatus"]


class NamespaceSpec(ApiStruct):
    """What holds a namespace back from being deleted."""

    finalizers: Annotated[
        tuple[str, ...],
        Meta(description="Must be empty before the namespace goes; `kubernetes` stands for its content.", extra=ATOMIC),
    ] = ()


class NamespaceCondition(ApiStruct):
    """One aspect of the deletion of a namespace."""

    type: Annotated[str, Meta(description="Which aspect.", extra=REQUIRED)] = always(str)
    status: Annotated[str, Meta(description="True, False or Unknown.", extra=REQUIRED)] = always(str)
    last_transition_time: Annotated[Time | None, Meta(description="When the status last changed.")] = always_null()
    reason: Annotated[str, Meta(description="Why, as one word.")] = ""
    message: Annotated[str, Meta(description="Why, in a sentence.")] = ""


class NamespaceStatus(ApiStruct):
    """Where a namespace is in its life."""

    phase: Annotated[
        str,
        Meta(
            description="Active, or Terminating while its content is deleted.",
            extra={"enum": ("Active", "Terminating")},
        ),
    ] = ""
    conditions: Annotated[
        tuple[NamespaceCondition, ...], Meta(description="What holds the deletion up.", extra=list_map("type"))
    ] = ()


class Namespace(ApiObject):
    """A room for names."""

    spec: Annotated[NamespaceSpec, Meta(description="What holds it back from being deleted.")] = always(NamespaceSpec)
    status: Annotated[NamespaceStatus, Meta(description="Where it is in its life.")] = always(NamespaceStatus)
