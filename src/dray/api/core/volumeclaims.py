"""The persistent volume claim that an ephemeral volume is made from.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.core.references import TypedLocalObjectReference, TypedObjectReference
from dray.api.meta import LabelSelector, ObjectMeta
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always
from dray.values.quantity import Quantity

__all__ = ["PersistentVolumeClaimSpec", "PersistentVolumeClaimTemplate", "VolumeResourceRequirements"]


class VolumeResourceRequirements(ApiStruct):
    """How much storage is wanted."""

    limits: Annotated[Mapping[str, Quantity], Meta(description="The most storage the volume may have.")] = {}
    requests: Annotated[Mapping[str, Quantity], Meta(description="The least storage the volume must have.")] = {}


class PersistentVolumeClaimSpec(ApiStruct):
    """What kind of volume is wanted."""

    access_modes: Annotated[
        tuple[str, ...],
        Meta(
            description="How the volume will be mounted, such as ReadWriteOnce.",
            extra=ATOMIC
            | {
                "enum": (
                    "ReadOnlyMany",
                    "ReadWriteMany",
                    "ReadWriteOnce",
                    "ReadWriteOncePod",
                )
            },
        ),
    ] = ()
    resources: Annotated[VolumeResourceRequirements, Meta(description="How much storage is wanted.")] = always(
        VolumeResourceRequirements
    )
    volume_name: Annotated[str, Meta(description="The volume to bind.")] = ""
    selector: Annotated[LabelSelector | None, Meta(description="Labels of the volumes that may be bound.")] = None
    storage_class_name: Annotated[
        str | None, Meta(description="Storage class the volume comes from; absent is the default class.")
    ] = None
    volume_mode: Annotated[
        str | None,
        Meta(
            description="Whether the volume is a file system or a raw block device; absent is Filesystem.",
            extra={
                "enum": (
                    "Block",
                    "Filesystem",
                )
            },
        ),
    ] = None
    data_source: Annotated[
        TypedLocalObjectReference | None, Meta(description="Snapshot or claim the volume starts as a copy of.")
    ] = None
    data_source_ref: Annotated[
        TypedObjectReference | None, Meta(description="Any object a populator fills the volume from.")
    ] = None
    volume_attributes_class_name: Annotated[
        str | None, Meta(description="Class of attributes to apply to the volume.")
    ] = None


class PersistentVolumeClaimTemplate(ApiStruct):
    """A claim to create for the pod, and to delete with it."""

    metadata: Annotated[ObjectMeta, Meta(description="Labels and annotations of the claim.")] = always(ObjectMeta)
    spec: Annotated[PersistentVolumeClaimSpec, Meta(description="What kind of volume is wanted.", extra=REQUIRED)] = (
        always(PersistentVolumeClaimSpec)
    )
