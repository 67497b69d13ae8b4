"""Files that the node agent writes into volumes, and where their content comes from.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, field

from dray.api.core.environment import ObjectFieldSelector, ResourceFieldSelector
from dray.api.meta import LabelSelector
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, Int64, always

__all__ = [
    "ClusterTrustBundleProjection",
    "ConfigMapProjection",
    "DownwardAPIProjection",
    "DownwardAPIVolumeFile",
    "KeyToPath",
    "PodCertificateProjection",
    "SecretProjection",
    "ServiceAccountTokenProjection",
    "VolumeProjection",
]


class KeyToPath(ApiStruct):
    """One key of a config map or secret as a file."""

    key: Annotated[str, Meta(description="Key to write.", extra=REQUIRED)] = always(str)
    path: Annotated[str, Meta(description="Path of the file in the volume.", extra=REQUIRED)] = always(str)
    mode: Annotated[Int32 | None, Meta(description="Permission bits of the file; absent is the volume's.")] = None
    user: Annotated[Int64 | None, Meta(description="User that owns the file; absent is the volume's.")] = None


class DownwardAPIVolumeFile(ApiStruct):
    """One field or amount of the pod as a file."""

    path: Annotated[str, Meta(description="Path of the file in the volume.", extra=REQUIRED)] = always(str)
    field_ref: Annotated[ObjectFieldSelector | None, Meta(description="Field of the pod to write.")] = None
    resource_field_ref: Annotated[ResourceFieldSelector | None, Meta(description="Amount of a container to write.")] = (
        None
    )
    mode: Annotated[Int32 | None, Meta(description="Permission bits of the file; absent is the volume's.")] = None
    user: Annotated[Int64 | None, Meta(description="User that owns the file; absent is the volume's.")] = None


class SecretProjection(ApiStruct):
    """Keys of a secret as files."""

    name: Annotated[str, Meta(description="Name of the object.", extra={"default": ""})] = ""
    items: Annotated[
        tuple[KeyToPath, ...],
        Meta(description="Keys to write; absent is all, each as a file of its name.", extra=ATOMIC),
    ] = ()
    optional: Annotated[bool | None, Meta(description="Whether the object or its keys may be missing.")] = None


class ConfigMapProjection(ApiStruct):
    """Keys of a config map as files."""

    name: Annotated[str, Meta(description="Name of the object.", extra={"default": ""})] = ""
    items: Annotated[
        tuple[KeyToPath, ...],
        Meta(description="Keys to write; absent is all, each as a file of its name.", extra=ATOMIC),
    ] = ()
    optional: Annotated[bool | None, Meta(description="Whether the object or its keys may be missing.")] = None


class DownwardAPIProjection(ApiStruct):
    """Fields and amounts of the pod as files."""

    items: Annotated[tuple[DownwardAPIVolumeFile, ...], Meta(description="Files to write.", extra=ATOMIC)] = ()


class ServiceAccountTokenProjection(ApiStruct):
    """A token of the pod's service account as a file, renewed before it ends."""

    audience: Annotated[str, Meta(description="Who accepts the token; absent is the API server.")] = ""
    expiration_seconds: Annotated[Int64 | None, Meta(description="How long the token is valid; absent is an hour.")] = (
        None
    )
    path: Annotated[str, Meta(description="Path of the file in the volume.", extra=REQUIRED)] = always(str)
    user: Annotated[Int64 | None, Meta(description="User that owns the file.")] = None


class ClusterTrustBundleProjection(ApiStruct):
    """Trust anchors as a file."""

    name: Annotated[str | None, Meta(description="Name of one bundle.")] = None
    signer_name: Annotated[str | None, Meta(description="All bundles of this signer.")] = None
    label_selector: Annotated[LabelSelector | None, Meta(description="Labels of the bundles of the signer.")] = None
    path: Annotated[str, Meta(description="Path of the file in the volume.", extra=REQUIRED)] = always(str)
    optional: Annotated[bool | None, Meta(description="Whether there may be no bundle.")] = None
    user: Annotated[Int64 | None, Meta(description="User that owns the file.")] = None


class PodCertificateProjection(ApiStruct):
    """A private key and a certificate for the pod as files, renewed before it ends."""

    signer_name: Annotated[str, Meta(description="Signer that is asked.", extra=REQUIRED)] = ""
    key_type: Annotated[str, Meta(description="Kind of key to make.", extra=REQUIRED)] = ""
    max_expiration_seconds: Annotated[
        Int32 | None, Meta(description="How long the certificate may be valid at most.")
    ] = None
    credential_bundle_path: Annotated[str, Meta(description="Path of a file with key and chain.")] = ""
    key_path: Annotated[str, Meta(description="Path of a file with the key.")] = ""
    certificate_chain_path: Annotated[str, Meta(description="Path of a file with the chain.")] = ""
    user_annotations: Annotated[Mapping[str, str], Meta(description="Handed to the signer as they are.")] = {}
    user: Annotated[Int64 | None, Meta(description="User that owns the files.")] = None


class VolumeProjection(ApiStruct):
    """One source of a projected volume; exactly one member is set."""

    secret: Annotated[SecretProjection | None, Meta(description="Keys of a secret.")] = None
    downward_api: Annotated[DownwardAPIProjection | None, Meta(description="Fields and amounts of the pod.")] = field(
        default=None, name="downwardAPI"
    )
    config_map: Annotated[ConfigMapProjection | None, Meta(description="Keys of a config map.")] = None
    service_account_token: Annotated[
        ServiceAccountTokenProjection | None, Meta(description="A token of the service account.")
    ] = None
    cluster_trust_bundle: Annotated[ClusterTrustBundleProjection | None, Meta(description="Trust anchors.")] = None
    pod_certificate: Annotated[PodCertificateProjection | None, Meta(description="A key and a certificate.")] = None
