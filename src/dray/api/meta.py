"""Metadata of objects and lists, and the small types that every group shares."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, field

from dray.api.struct import ATOMIC, NO_JSON, REQUIRED, ApiStruct, Int32, Int64, always, always_null, list_map
from dray.values.times import Time

__all__ = [
    "ApiObject",
    "Condition",
    "DeleteOptions",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ListMeta",
    "ManagedFieldsEntry",
    "ObjectMeta",
    "OwnerReference",
    "Preconditions",
    "ShardInfo",
    "Status",
    "StatusCause",
    "StatusDetails",
]


class OwnerReference(ApiStruct):
    """An object that this one belongs to: when all owners are gone, the garbage collector deletes it."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    api_version: Annotated[str, Meta(description="API group and version of the owner.", extra=REQUIRED)] = always(str)
    kind: Annotated[str, Meta(description="Kind of the owner.", extra=REQUIRED)] = always(str)
    name: Annotated[str, Meta(description="Name of the owner.", extra=REQUIRED)] = always(str)
    uid: Annotated[
        str, Meta(description="UID of the owner; an object of the same name made later is another one.", extra=REQUIRED)
    ] = always(str)
    controller: Annotated[bool | None, Meta(description="Whether this owner manages the object; at most one may.")] = (
        None
    )
    block_owner_deletion: Annotated[
        bool | None,
        Meta(description="Whether a foreground deletion of the owner waits for this object to be gone."),
    ] = None


class ManagedFieldsEntry(ApiStruct):
    """Which fields one writer set last, in one version, by one way of writing."""

    manager: Annotated[str, Meta(description="Name of the writer.")] = ""
    operation: Annotated[str, Meta(description="How it wrote: Apply or Update.")] = ""
    api_version: Annotated[str, Meta(description="Version of the object that the field names belong to.")] = ""
    time: Annotated[Time | None, Meta(description="When the entry last changed.")] = None
    fields_type: Annotated[str, Meta(description="Format of the field set; only FieldsV1 exists.")] = ""
    fields_v1: Annotated[msgspec.Raw, Meta(description="The field set.", extra={"schema": "FieldsV1"})] = field(
        default=NO_JSON, name="fieldsV1"
    )
    subresource: Annotated[str, Meta(description="Subresource that was written, empty for the object itself.")] = ""


class ObjectMeta(ApiStruct):
    """What every stored object says about itself."""

    name: Annotated[str, Meta(description="Name, unique among objects of the kind in the namespace.")] = ""
    generate_name: Annotated[
        str, Meta(description="Prefix from which the server makes a unique name where no name is given.")
    ] = ""
    namespace: Annotated[str, Meta(description="Namespace the object lives in, empty for cluster-wide kinds.")] = ""
    self_link: Annotated[str, Meta(description="Unused; never returned.")] = ""
    uid: Annotated[str, Meta(description="Identity given by the server, never used twice.")] = ""
    resource_version: Annotated[
        str, Meta(description="Opaque version of the stored object; sent back, it guards against lost updates.")
    ] = ""
    generation: Annotated[Int64, Meta(description="Counts changes of what is desired, for kinds that keep count.")] = 0
    creation_timestamp: Annotated[Time | None, Meta(description="When the server created the object.")] = None
    deletion_timestamp: Annotated[
        Time | None, Meta(description="When the object is due to go; set while finalizers or a grace period hold it.")
    ] = None
    deletion_grace_period_seconds: Annotated[
        Int64 | None, Meta(description="Seconds the object may take to end in good order.")
    ] = None
    labels: Annotated[Mapping[str, str], Meta(description="Keys and values by which objects are selected.")] = {}
    annotations: Annotated[
        Mapping[str, str], Meta(description="Keys and values that tools keep here; nothing selects by them.")
    ] = {}
    owner_references: Annotated[
        tuple[OwnerReference, ...],
        Meta(description="Objects this one belongs to.", extra=list_map("uid")),
    ] = ()
    finalizers: Annotated[
        tuple[str, ...],
        Meta(
            description="What still has to be cleaned up before the object may go; each entry is removed by whoever "
            "did its part.",
            extra={"list": "set", "patch": "merge"},
        ),
    ] = ()
    managed_fields: Annotated[
        tuple[ManagedFieldsEntry, ...], Meta(description="Who set which fields.", extra=ATOMIC)
    ] = ()


class ApiObject(ApiStruct):
    """Base of every kind: what it is, and its metadata.

    In memory `api_version` names the declared version of the kind, whichever version it came in; the codec writes the
    version asked for.
    """

    kind: Annotated[str, Meta(description="Kind of the object.")] = ""
    api_version: Annotated[str, Meta(description="API group and version this text is written in.")] = ""
    metadata: Annotated[ObjectMeta, Meta(description="Name, labels and what the server keeps about the object.")] = (
        always(ObjectMeta)
    )


class ShardInfo(ApiStruct):
    """Which part of a list was returned."""

    selector: Annotated[str, Meta(description="The selector that chose the part.", extra=REQUIRED)] = always(str)


class ListMeta(ApiStruct):
    """What every list says about itself."""

    self_link: Annotated[str, Meta(description="Unused; never returned.")] = ""
    resource_version: Annotated[str, Meta(description="Version of the store that the list shows.")] = ""
    continue_: Annotated[str, Meta(description="Token that asks for the next page; empty on the last one.")] = field(
        default="", name="continue"
    )
    remaining_item_count: Annotated[
        Int64 | None, Meta(description="How many objects follow, where the server knows.")
    ] = None
    shard_info: Annotated[
        ShardInfo | None, Meta(description="Which part of the list this is, where only a part was asked for.")
    ] = None


class Condition(ApiStruct):
    """One aspect of an object's state, as one observer saw it last."""

    type: Annotated[str, Meta(description="Which aspect, a qualified name.", extra=REQUIRED)] = always(str)
    status: Annotated[str, Meta(description="True, False or Unknown.", extra=REQUIRED)] = always(str)
    observed_generation: Annotated[Int64, Meta(description="Generation of the object that the observer had seen.")] = 0
    last_transition_time: Annotated[Time | None, Meta(description="When the status last changed.", extra=REQUIRED)] = (
        always_null()
    )
    reason: Annotated[str, Meta(description="One word for programs: why the status is so.", extra=REQUIRED)] = always(
        str
    )
    message: Annotated[str, Meta(description="A sentence for people; may be empty.", extra=REQUIRED)] = always(str)


class LabelSelectorRequirement(ApiStruct):
    """One condition on one label."""

    key: Annotated[str, Meta(description="Label the condition looks at.", extra=REQUIRED)] = always(str)
    operator: Annotated[str, Meta(description="In, NotIn, Exists or DoesNotExist.", extra=REQUIRED)] = always(str)
    values: Annotated[
        tuple[str, ...], Meta(description="What In and NotIn compare with; empty for the others.", extra=ATOMIC)
    ] = ()


class LabelSelector(ApiStruct):
    """Selects objects by their labels; all conditions must hold. An empty selector selects everything."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    match_labels: Annotated[Mapping[str, str], Meta(description="Labels that must have exactly these values.")] = {}
    match_expressions: Annotated[
        tuple[LabelSelectorRequirement, ...], Meta(description="Further conditions.", extra=ATOMIC)
    ] = ()


class Preconditions(ApiStruct):
    """What must still be true of an object for a request on it to go ahead."""

    uid: Annotated[str | None, Meta(description="UID the object must have.")] = None
    resource_version: Annotated[str | None, Meta(description="Version the object must have.")] = None


class DeleteOptions(ApiStruct):
    """The body of a DELETE request."""

    kind: Annotated[str, Meta(description="DeleteOptions.")] = ""
    api_version: Annotated[str, Meta(description="API group and version this text is written in.")] = ""
    grace_period_seconds: Annotated[
        Int64 | None, Meta(description="Seconds to let the object end in good order; 0 ends it at once.")
    ] = None
    preconditions: Annotated[Preconditions | None, Meta(description="What must still be true of the object.")] = None
    orphan_dependents: Annotated[
        bool | None, Meta(description="Old form of propagationPolicy: true keeps dependents.")
    ] = None
    propagation_policy: Annotated[
        str | None, Meta(description="What becomes of dependents: Orphan, Background or Foreground.")
    ] = None
    dry_run: Annotated[tuple[str, ...], Meta(description="All: do everything except store it.", extra=ATOMIC)] = ()
    ignore_store_read_error_with_cluster_breaking_potential: Annotated[
        bool | None, Meta(description="Delete even what can no longer be read from storage.")
    ] = None


class StatusCause(ApiStruct):
    """One single fault."""

    reason: Annotated[str, Meta(description="Code of the fault.")] = ""
    message: Annotated[str, Meta(description="The fault in words, without the field.")] = ""
    field: Annotated[str, Meta(description="Path of the field that is at fault.")] = ""


class StatusDetails(ApiStruct):
    """What a failure is about."""

    name: Annotated[str, Meta(description="Name of the object.")] = ""
    group: Annotated[str, Meta(description="API group of the object.")] = ""
    kind: Annotated[str, Meta(description="Kind, or plural name of the resource.")] = ""
    uid: Annotated[str, Meta(description="UID of the object.")] = ""
    causes: Annotated[tuple[StatusCause, ...], Meta(description="The single faults.", extra=ATOMIC)] = ()
    retry_after_seconds: Annotated[Int32, Meta(description="How long to wait before trying again.")] = 0


class Status(ApiStruct):
    """The answer to a request that returns no object."""

    kind: Annotated[str, Meta(description="Status.")] = always(lambda: "Status")
    api_version: Annotated[str, Meta(description="v1.")] = always(lambda: "v1")
    metadata: Annotated[ListMeta, Meta(description="Empty, except after a list has expired.")] = always(ListMeta)
    status: Annotated[str, Meta(description="Success or Failure.")] = ""
    message: Annotated[str, Meta(description="What happened, for people.")] = ""
    reason: Annotated[str, Meta(description="Why, as one word for programs.")] = ""
    details: Annotated[StatusDetails | None, Meta(description="What it is about.", extra=ATOMIC)] = None
    code: Annotated[Int32, Meta(description="HTTP status code.")] = 0
