"""Files that volumes are filled with."""

from collections.abc import Iterator, Sequence

from dray.api.core.checks.environment import VOLUME_FIELDS, field_ref_faults, resource_ref_faults
from dray.api.core.checks.mounts import descending_path_faults
from dray.api.core.projections import (
    ClusterTrustBundleProjection,
    DownwardAPIVolumeFile,
    KeyToPath,
    ServiceAccountTokenProjection,
    VolumeProjection,
)
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import FieldPath

__all__ = ["downward_file_faults", "key_file_faults", "mode_faults", "projection_faults"]

_MAX_MODE = 0o777
_MODE_RULE = "must be a number between 0 and 0777 (octal), both inclusive"
_TOKEN_MIN_SECONDS = 600
_TOKEN_MAX_SECONDS = 2**32


def mode_faults(mode: int | None, path: FieldPath) -> Iterator[FieldError]:
    """Permission bits."""
    if mode is not None and not 0 <= mode <= _MAX_MODE:
        yield invalid(path, mode, _MODE_RULE, hint="JSON has no octal numbers: 0644 is 420")


def _file_path_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """A path inside the volume, whose dotted names the node agent needs for itself."""
    yield from descending_path_faults(text, path)
    if text.startswith("..") and ".." not in text.split("/"):
        yield invalid(path, text, "must not start with '..'")


def key_file_faults(items: Sequence[KeyToPath], path: FieldPath) -> Iterator[FieldError]:
    """Keys of a config map or secret as files."""
    for index, item in enumerate(items):
        at = path / index
        if not item.key:
            yield required(at / "key")
        if not item.path:
            yield required(at / "path")
        yield from _file_path_faults(item.path, at / "path")
        yield from mode_faults(item.mode, at / "mode")


def downward_file_faults(files: Sequence[DownwardAPIVolumeFile], path: FieldPath) -> Iterator[FieldError]:
    """Fields and amounts of the pod as files. The API server places these faults at the volume, not at the file."""
    for file in files:
        if not file.path:
            yield required(path / "path")
        yield from _file_path_faults(file.path, path / "path")
        if file.field_ref is not None:
            yield from field_ref_faults(file.field_ref, VOLUME_FIELDS, path / "fieldRef")
            if file.resource_field_ref is not None:
                yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
        elif file.resource_field_ref is not None:
            yield from resource_ref_faults(file.resource_field_ref, path / "resourceFieldRef", in_volume=True)
        else:
            yield required(path, "one of fieldRef and resourceFieldRef is required")
        yield from mode_faults(file.mode, path / "mode")


def projection_faults(sources: Sequence[VolumeProjection], path: FieldPath) -> Iterator[FieldError]:
    """One source an entry, and no two files at one path."""
    taken: set[str] = set()
    for index, source in enumerate(sources):
        at = path / index
        members = (
            source.secret,
            source.config_map,
            source.downward_api,
            source.service_account_token,
            source.cluster_trust_bundle,
            source.pod_certificate,
        )
        yield from _source_faults(source, at)
        if sum(member is not None for member in members) > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")
        for member_path, file, shown in _projected_files(source, at):
            if file in taken:
                yield invalid(member_path, shown, "conflicting duplicate paths")
            taken.add(file)


def _source_faults(source: VolumeProjection, path: FieldPath) -> Iterator[FieldError]:
    for name, filled in (("secret", source.secret), ("configMap", source.config_map)):
        if filled is not None:
            if not filled.name:
                yield required(path / name / "name")
            yield from key_file_faults(filled.items, path / name / "items")
    if source.downward_api is not None:
        yield from downward_file_faults(source.downward_api.items, path / "downwardAPI")
    if source.service_account_token is not None:
        yield from _token_faults(source.service_account_token, path / "serviceAccountToken")
    if source.cluster_trust_bundle is not None:
        yield from _bundle_faults(source.cluster_trust_bundle, path / "clusterTrustBundle")
    certificate = source.pod_certificate
    if certificate is not None:
        at = path / "podCertificate"
        for name, text in (("signerName", certificate.signer_name), ("keyType", certificate.key_type)):
            if not text:
                yield required(at / name)


def _token_faults(token: ServiceAccountTokenProjection, path: FieldPath) -> Iterator[FieldError]:
    seconds = token.expiration_seconds
    if seconds is not None and seconds < _TOKEN_MIN_SECONDS:
        yield invalid(path / "expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > _TOKEN_MAX_SECONDS:
        yield invalid(path / "expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    if token.path:
        yield from _file_path_faults(token.path, path / "path")
    else:
        yield required(path / "path")


def _bundle_faults(bundle: ClusterTrustBundleProjection, path: FieldPath) -> Iterator[FieldError]:
    if bundle.name is not None and bundle.signer_name is not None:
        yield invalid(path, bundle, "only one of name and signerName may be used")
    elif bundle.name is None and bundle.signer_name is None:
        yield required(path, "either name or signerName must be specified")
    if bundle.path:
        yield from _file_path_faults(bundle.path, path / "path")
    else:
        yield required(path / "path")


def _projected_files(source: VolumeProjection, path: FieldPath) -> Iterator[tuple[FieldPath, str, str]]:
    """Where each file of a source is named, its path, and what a fault about it shows."""
    if source.secret is not None:
        yield from ((path / "secret", each.path, source.secret.name) for each in source.secret.items if each.path)
    if source.config_map is not None:
        config = source.config_map
        yield from ((path / "configMap", each.path, config.name) for each in config.items if each.path)
    if source.downward_api is not None:
        yield from ((path / "downwardAPI", each.path, each.path) for each in source.downward_api.items if each.path)
    token = source.service_account_token
    if token is not None and token.path:
        yield path / "serviceAccountToken", token.path, token.path
