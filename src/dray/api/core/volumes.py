"""The volumes of a pod.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, field

from dray.api.core.legacyvolumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CephFSVolumeSource,
    CinderVolumeSource,
    FCVolumeSource,
    FlexVolumeSource,
    FlockerVolumeSource,
    GCEPersistentDiskVolumeSource,
    GitRepoVolumeSource,
    GlusterfsVolumeSource,
    ISCSIVolumeSource,
    NFSVolumeSource,
    PhotonPersistentDiskVolumeSource,
    PortworxVolumeSource,
    QuobyteVolumeSource,
    RBDVolumeSource,
    ScaleIOVolumeSource,
    StorageOSVolumeSource,
    VsphereVirtualDiskVolumeSource,
)
from dray.api.core.projections import DownwardAPIVolumeFile, KeyToPath, VolumeProjection
from dray.api.core.references import LocalObjectReference
from dray.api.core.volumeclaims import PersistentVolumeClaimTemplate
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, Int64, always
from dray.values.quantity import Quantity

__all__ = [
    "CSIVolumeSource",
    "ConfigMapVolumeSource",
    "DownwardAPIVolumeSource",
    "EmptyDirVolumeSource",
    "EphemeralVolumeSource",
    "HostPathVolumeSource",
    "ImageVolumeSource",
    "PersistentVolumeClaimVolumeSource",
    "ProjectedVolumeSource",
    "SecretVolumeSource",
    "Volume",
]


class HostPathVolumeSource(ApiStruct):
    """A file or folder of the node."""

    path: Annotated[str, Meta(description="Path on the node.", extra=REQUIRED)] = always(str)
    type: Annotated[
        str | None,
        Meta(
            description="What must be there before mounting, or is made; empty checks nothing.",
            extra={
                "enum": (
                    "",
                    "BlockDevice",
                    "CharDevice",
                    "Directory",
                    "DirectoryOrCreate",
                    "File",
                    "FileOrCreate",
                    "Socket",
                )
            },
        ),
    ] = None


class EmptyDirVolumeSource(ApiStruct):
    """An empty folder that lives as long as the pod."""

    medium: Annotated[str, Meta(description="Where it is kept: empty is the node's disk, Memory is RAM.")] = ""
    size_limit: Annotated[Quantity | None, Meta(description="The most it may hold.")] = None
    mode: Annotated[Int32 | None, Meta(description="Permission bits of the folder.")] = None


class SecretVolumeSource(ApiStruct):
    """Keys of a secret as files."""

    secret_name: Annotated[str, Meta(description="Name of the secret.")] = ""
    items: Annotated[
        tuple[KeyToPath, ...],
        Meta(description="Keys to write; absent is all, each as a file of its name.", extra=ATOMIC),
    ] = ()
    default_mode: Annotated[Int32 | None, Meta(description="Permission bits of the files; absent is 0644.")] = None
    optional: Annotated[bool | None, Meta(description="Whether the source or its keys may be missing.")] = None
    default_user: Annotated[Int64 | None, Meta(description="User that owns the files.")] = None


class ConfigMapVolumeSource(ApiStruct):
    """Keys of a config map as files."""

    name: Annotated[str, Meta(description="Name of the config map.", extra={"default": ""})] = ""
    items: Annotated[
        tuple[KeyToPath, ...],
        Meta(description="Keys to write; absent is all, each as a file of its name.", extra=ATOMIC),
    ] = ()
    default_mode: Annotated[Int32 | None, Meta(description="Permission bits of the files; absent is 0644.")] = None
    optional: Annotated[bool | None, Meta(description="Whether the source or its keys may be missing.")] = None
    default_user: Annotated[Int64 | None, Meta(description="User that owns the files.")] = None


class DownwardAPIVolumeSource(ApiStruct):
    """Fields and amounts of the pod as files."""

    items: Annotated[tuple[DownwardAPIVolumeFile, ...], Meta(description="Files to write.", extra=ATOMIC)] = ()
    default_mode: Annotated[Int32 | None, Meta(description="Permission bits of the files; absent is 0644.")] = None
    default_user: Annotated[Int64 | None, Meta(description="User that owns the files.")] = None


class ProjectedVolumeSource(ApiStruct):
    """Several sources in one folder."""

    sources: Annotated[tuple[VolumeProjection, ...], Meta(description="What to write, in order.", extra=ATOMIC)] = ()
    default_mode: Annotated[Int32 | None, Meta(description="Permission bits of the files; absent is 0644.")] = None
    default_user: Annotated[Int64 | None, Meta(description="User that owns the files.")] = None


class PersistentVolumeClaimVolumeSource(ApiStruct):
    """A persistent volume that a claim in the same namespace is bound to."""

    claim_name: Annotated[str, Meta(description="Name of the claim.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool, Meta(description="Whether every mount is read-only.")] = False


class CSIVolumeSource(ApiStruct):
    """A volume that a CSI driver makes for the pod alone."""

    driver: Annotated[str, Meta(description="Name of the driver.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool | None, Meta(description="Whether the volume is read-only.")] = None
    fs_type: Annotated[str | None, Meta(description="File system to make; absent is the driver's choice.")] = None
    volume_attributes: Annotated[Mapping[str, str], Meta(description="Handed to the driver as they are.")] = {}
    node_publish_secret_ref: Annotated[
        LocalObjectReference | None, Meta(description="Secret with credentials for the driver.")
    ] = None


class EphemeralVolumeSource(ApiStruct):
    """A persistent volume that lives as long as the pod."""

    volume_claim_template: Annotated[
        PersistentVolumeClaimTemplate | None, Meta(description="The claim to make for the pod.")
    ] = None


class ImageVolumeSource(ApiStruct):
    """The content of an image."""

    reference: Annotated[str, Meta(description="The image.")] = ""
    pull_policy: Annotated[
        str,
        Meta(
            description="When the image is pulled.",
            extra={
                "enum": (
                    "Always",
                    "IfNotPresent",
                    "Never",
                )
            },
        ),
    ] = ""


class Volume(ApiStruct):
    """A folder or device that containers of the pod can mount; exactly one source is set."""

    name: Annotated[str, Meta(description="Name of the volume, a DNS label, unique in the pod.", extra=REQUIRED)] = (
        always(str)
    )
    host_path: Annotated[HostPathVolumeSource | None, Meta(description="A file or folder of the node.")] = None
    empty_dir: Annotated[
        EmptyDirVolumeSource | None, Meta(description="An empty folder that lives as long as the pod.")
    ] = None
    gce_persistent_disk: Annotated[GCEPersistentDiskVolumeSource | None, Meta(description="A disk of GCE.")] = None
    aws_elastic_block_store: Annotated[AWSElasticBlockStoreVolumeSource | None, Meta(description="A disk of AWS.")] = (
        None
    )
    git_repo: Annotated[GitRepoVolumeSource | None, Meta(description="A git repository.")] = None
    secret: Annotated[SecretVolumeSource | None, Meta(description="Keys of a secret.")] = None
    nfs: Annotated[NFSVolumeSource | None, Meta(description="A share of an NFS server.")] = None
    iscsi: Annotated[ISCSIVolumeSource | None, Meta(description="A disk of an iSCSI target.")] = None
    glusterfs: Annotated[GlusterfsVolumeSource | None, Meta(description="A Gluster volume.")] = None
    persistent_volume_claim: Annotated[
        PersistentVolumeClaimVolumeSource | None, Meta(description="A persistent volume through its claim.")
    ] = None
    rbd: Annotated[RBDVolumeSource | None, Meta(description="A block device of Ceph.")] = None
    flex_volume: Annotated[FlexVolumeSource | None, Meta(description="A volume of an exec driver.")] = None
    cinder: Annotated[CinderVolumeSource | None, Meta(description="A disk of OpenStack.")] = None
    cephfs: Annotated[CephFSVolumeSource | None, Meta(description="A Ceph file system.")] = None
    flocker: Annotated[FlockerVolumeSource | None, Meta(description="A Flocker dataset.")] = None
    downward_api: Annotated[DownwardAPIVolumeSource | None, Meta(description="Fields and amounts of the pod.")] = field(
        default=None, name="downwardAPI"
    )
    fc: Annotated[FCVolumeSource | None, Meta(description="A Fibre Channel disk.")] = None
    azure_file: Annotated[AzureFileVolumeSource | None, Meta(description="A file share of Azure.")] = None
    config_map: Annotated[ConfigMapVolumeSource | None, Meta(description="Keys of a config map.")] = None
    vsphere_volume: Annotated[VsphereVirtualDiskVolumeSource | None, Meta(description="A disk of vSphere.")] = None
    quobyte: Annotated[QuobyteVolumeSource | None, Meta(description="A Quobyte volume.")] = None
    azure_disk: Annotated[AzureDiskVolumeSource | None, Meta(description="A disk of Azure.")] = None
    photon_persistent_disk: Annotated[
        PhotonPersistentDiskVolumeSource | None, Meta(description="A disk of Photon.")
    ] = None
    portworx_volume: Annotated[PortworxVolumeSource | None, Meta(description="A Portworx volume.")] = None
    scaleio: Annotated[ScaleIOVolumeSource | None, Meta(description="A ScaleIO volume.")] = field(
        default=None, name="scaleIO"
    )
    projected: Annotated[ProjectedVolumeSource | None, Meta(description="Several sources in one folder.")] = None
    storageos: Annotated[StorageOSVolumeSource | None, Meta(description="A StorageOS volume.")] = None
    csi: Annotated[CSIVolumeSource | None, Meta(description="A volume of a CSI driver for the pod alone.")] = None
    ephemeral: Annotated[
        EphemeralVolumeSource | None, Meta(description="A persistent volume that lives as long as the pod.")
    ] = None
    image: Annotated[ImageVolumeSource | None, Meta(description="The content of an image.")] = None
