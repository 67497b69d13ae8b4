"""What the API server fills into the volumes of a pod."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from dray.api.core.environment import ObjectFieldSelector
from dray.api.core.legacyvolumes import (
    AzureDiskVolumeSource,
    ISCSIVolumeSource,
    RBDVolumeSource,
    ScaleIOVolumeSource,
)
from dray.api.core.projections import DownwardAPIVolumeFile, ServiceAccountTokenProjection, VolumeProjection
from dray.api.core.volumes import (
    ConfigMapVolumeSource,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    EphemeralVolumeSource,
    HostPathVolumeSource,
    ImageVolumeSource,
    ProjectedVolumeSource,
    SecretVolumeSource,
    Volume,
)

__all__ = ["VOLUME_SOURCES", "default_field_ref", "default_volume"]

VOLUME_SOURCES = tuple(field.name for field in msgspec.structs.fields(Volume) if field.name != "name")
"""The members of a volume of which exactly one is set."""

_FILE_MODE = 0o644
_TOKEN_SECONDS = 3600


def default_field_ref(selector: ObjectFieldSelector) -> ObjectFieldSelector:
    """Paths are written for v1."""
    return selector if selector.api_version else replace(selector, api_version="v1")


def default_volume(volume: Volume) -> Volume:
    """A volume without a source is an empty folder; sources get what they leave open."""
    given = {name: getattr(volume, name) for name in VOLUME_SOURCES if getattr(volume, name) is not None}
    if not given:
        return replace(volume, empty_dir=EmptyDirVolumeSource())
    changes = {name: _default_source(source) for name, source in given.items()}
    return replace(volume, **changes)


def _default_source(source: object) -> object:
    match source:
        case SecretVolumeSource():
            return replace(source, default_mode=_mode(source.default_mode))
        case ConfigMapVolumeSource():
            return replace(source, default_mode=_mode(source.default_mode))
        case DownwardAPIVolumeSource():
            return replace(source, default_mode=_mode(source.default_mode), items=_default_files(source.items))
        case ProjectedVolumeSource():
            sources = tuple(map(_default_projection, source.sources))
            return replace(source, default_mode=_mode(source.default_mode), sources=sources)
        case HostPathVolumeSource(type=None):
            return replace(source, type="")
        case EphemeralVolumeSource():
            return _default_ephemeral(source)
        case ImageVolumeSource(pull_policy=""):
            return replace(source, pull_policy=_image_policy(source.reference))
        case _:
            return _default_legacy(source)


def _default_legacy(source: object) -> object:
    match source:
        case ISCSIVolumeSource():
            return replace(source, iscsi_interface=source.iscsi_interface or "default")
        case RBDVolumeSource():
            keyring = source.keyring or "/etc/ceph/keyring"
            return replace(source, pool=source.pool or "rbd", user=source.user or "admin", keyring=keyring)
        case AzureDiskVolumeSource():
            return replace(
                source,
                caching_mode=source.caching_mode or "ReadWrite",
                kind=source.kind or "Shared",
                fs_type=source.fs_type or "ext4",
                read_only=source.read_only or False,
            )
        case ScaleIOVolumeSource():
            storage_mode = source.storage_mode or "ThinProvisioned"
            return replace(source, storage_mode=storage_mode, fs_type=source.fs_type or "xfs")
        case _:
            return source


def _mode(mode: int | None) -> int:
    return _FILE_MODE if mode is None else mode


def _default_files(files: Sequence[DownwardAPIVolumeFile]) -> tuple[DownwardAPIVolumeFile, ...]:
    return tuple(replace(each, field_ref=each.field_ref and default_field_ref(each.field_ref)) for each in files)


def _default_projection(projection: VolumeProjection) -> VolumeProjection:
    downward, token = projection.downward_api, projection.service_account_token
    return replace(
        projection,
        downward_api=downward and replace(downward, items=_default_files(downward.items)),
        service_account_token=token and _default_token(token),
    )


def _default_token(token: ServiceAccountTokenProjection) -> ServiceAccountTokenProjection:
    return replace(token, expiration_seconds=_TOKEN_SECONDS) if token.expiration_seconds is None else token


def _default_ephemeral(source: EphemeralVolumeSource) -> EphemeralVolumeSource:
    template = source.volume_claim_template
    if template is None or template.spec.volume_mode is not None:
        return source
    return replace(
        source, volume_claim_template=replace(template, spec=replace(template.spec, volume_mode="Filesystem"))
    )


def _image_policy(reference: str) -> str:
    tag = reference.rpartition("/")[2].partition("@")[0].partition(":")[2]
    return "Always" if tag == "latest" or (not tag and "@" not in reference) else "IfNotPresent"
