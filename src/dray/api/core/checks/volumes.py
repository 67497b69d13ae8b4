"""The volumes of a pod: named, told apart, and with exactly one source that can work."""

from collections.abc import Iterator, Sequence

import msgspec

from dray.api.core.checks.mounts import no_backstep_faults
from dray.api.core.checks.naming import choice_faults, required_label_faults, subdomain_faults
from dray.api.core.checks.projections import downward_file_faults, key_file_faults, mode_faults, projection_faults
from dray.api.core.checks.resources import negative_faults
from dray.api.core.legacyvolumes import NFSVolumeSource
from dray.api.core.volumeclaims import PersistentVolumeClaimSpec
from dray.api.core.volumedefaults import VOLUME_SOURCES
from dray.api.core.volumes import (
    ConfigMapVolumeSource,
    CSIVolumeSource,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    EphemeralVolumeSource,
    HostPathVolumeSource,
    ImageVolumeSource,
    PersistentVolumeClaimVolumeSource,
    ProjectedVolumeSource,
    SecretVolumeSource,
    Volume,
)
from dray.api.struct import ApiStruct
from dray.errors import FieldError, duplicate, forbidden, invalid, required, too_long
from dray.values.fieldpath import FieldPath, key

__all__ = ["volume_faults"]

_HOST_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_CSI_NAME_MAX_LENGTH = 63
_WIRE_NAMES = {field.name: field.encode_name for field in msgspec.structs.fields(Volume)}
# Of the storage systems that CSI drivers have replaced, only what is missing is told.
_REQUIRED_OF_LEGACY = {
    "gce_persistent_disk": ("pd_name",),
    "aws_elastic_block_store": ("volume_id",),
    "git_repo": ("repository",),
    "iscsi": ("target_portal", "iqn"),
    "glusterfs": ("endpoints", "path"),
    "rbd": ("monitors", "image"),
    "cinder": ("volume_id",),
    "cephfs": ("monitors",),
    "quobyte": ("registry", "volume"),
    "flex_volume": ("driver",),
    "azure_file": ("secret_name", "share_name"),
    "azure_disk": ("disk_name", "disk_uri"),
    "vsphere_volume": ("volume_path",),
    "photon_persistent_disk": ("pd_id",),
    "portworx_volume": ("volume_id",),
    "scaleio": ("gateway", "system", "volume_name"),
    "storageos": ("volume_name",),
}


def volume_faults(volumes: Sequence[Volume], path: FieldPath) -> tuple[list[FieldError], dict[str, Volume]]:
    """All faults, and the volumes without any by name: those that containers can refer to."""
    faults: list[FieldError] = []
    sound: dict[str, Volume] = {}
    for index, volume in enumerate(volumes):
        at = path / index
        own = [*_source_faults(volume, at), *required_label_faults(volume.name, at / "name")]
        if volume.name in sound:
            own.append(duplicate(at / "name", volume.name))
        if own:
            faults += own
        else:
            sound[volume.name] = volume
    return faults, sound


def _source_faults(volume: Volume, path: FieldPath) -> Iterator[FieldError]:
    given = [name for name in VOLUME_SOURCES if getattr(volume, name) is not None]
    if not given:
        yield required(path, "must specify a volume type")
        return
    first, *more = given
    yield from _faults_of(first, getattr(volume, first), path / _WIRE_NAMES[first])
    for name in more:
        yield forbidden(path / _WIRE_NAMES[name], "may not specify more than 1 volume type")


def _faults_of(name: str, source: ApiStruct, path: FieldPath) -> Iterator[FieldError]:
    match source:
        case EmptyDirVolumeSource():
            if source.size_limit is not None and source.size_limit.sign < 0:
                yield forbidden(path / "sizeLimit", "SizeLimit field must be a valid resource quantity")
        case HostPathVolumeSource():
            yield from _host_path_faults(source, path)
        case SecretVolumeSource() | ConfigMapVolumeSource():
            yield from _filled_faults(source, path)
        case DownwardAPIVolumeSource():
            yield from mode_faults(source.default_mode, path / "defaultMode")
            yield from downward_file_faults(source.items, path)
        case ProjectedVolumeSource():
            yield from mode_faults(source.default_mode, path / "defaultMode")
            yield from projection_faults(source.sources, path / "sources")
        case NFSVolumeSource():
            yield from _nfs_faults(source, path)
        case _:
            yield from _provided_faults(name, source, path)


def _provided_faults(name: str, source: ApiStruct, path: FieldPath) -> Iterator[FieldError]:
    match source:
        case PersistentVolumeClaimVolumeSource(claim_name=""):
            yield required(path / "claimName")
        case CSIVolumeSource():
            yield from _csi_faults(source, path)
        case EphemeralVolumeSource():
            yield from _ephemeral_faults(source, path / "volumeClaimTemplate")
        case ImageVolumeSource(reference=""):
            yield required(path / "reference")
        case _:
            wire_names = {field.name: field.encode_name for field in msgspec.structs.fields(source)}
            for field in _REQUIRED_OF_LEGACY.get(name, ()):
                if not getattr(source, field):
                    yield required(path / wire_names[field])


def _host_path_faults(source: HostPathVolumeSource, path: FieldPath) -> Iterator[FieldError]:
    if not source.path:
        yield required(path / "path")
        return
    yield from no_backstep_faults(source.path, path / "path")
    if source.type is not None:
        yield from choice_faults(source.type, _HOST_PATH_TYPES, path / "type")


def _filled_faults(source: SecretVolumeSource | ConfigMapVolumeSource, path: FieldPath) -> Iterator[FieldError]:
    if isinstance(source, SecretVolumeSource):
        if not source.secret_name:
            yield required(path / "secretName")
    elif not source.name:
        yield required(path / "name")
    yield from mode_faults(source.default_mode, path / "defaultMode")
    yield from key_file_faults(source.items, path / "items")


def _nfs_faults(source: NFSVolumeSource, path: FieldPath) -> Iterator[FieldError]:
    if not source.server:
        yield required(path / "server")
    if not source.path:
        yield required(path / "path")
    if not source.path.startswith("/"):
        yield invalid(path / "path", source.path, "must be an absolute path")


def _csi_faults(source: CSIVolumeSource, path: FieldPath) -> Iterator[FieldError]:
    if not source.driver:
        yield required(path / "driver")
    else:
        if len(source.driver) > _CSI_NAME_MAX_LENGTH:
            yield too_long(path / "driver", _CSI_NAME_MAX_LENGTH)
        yield from subdomain_faults(source.driver.lower(), path / "driver")
    secret = source.node_publish_secret_ref
    if secret is not None and not secret.name:
        yield required(path / "nodePublishSecretRef" / "name")


def _ephemeral_faults(source: EphemeralVolumeSource, path: FieldPath) -> Iterator[FieldError]:
    if source.volume_claim_template is None:
        yield required(path)
    else:
        yield from _volume_claim_faults(source.volume_claim_template.spec, path / "spec")


def _volume_claim_faults(spec: PersistentVolumeClaimSpec, path: FieldPath) -> Iterator[FieldError]:
    if not spec.access_modes:
        yield required(path / "accessModes", "at least 1 access mode is required")
    for mode in spec.access_modes:
        yield from choice_faults(mode, _ACCESS_MODES, path / "accessModes")
    at = path / "resources" / key("storage")
    if "storage" not in spec.resources.requests:
        yield required(at)
    else:
        amount = spec.resources.requests["storage"]
        yield from negative_faults(amount, at)
        if amount.is_zero:
            yield invalid(at, str(amount), "must be greater than zero")
