"""Volume sources of particular storage systems, which CSI drivers have replaced. They are kept so that nothing is lost.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, field

from dray.api.core.references import LocalObjectReference
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, always, always_null

__all__ = [
    "AWSElasticBlockStoreVolumeSource",
    "AzureDiskVolumeSource",
    "AzureFileVolumeSource",
    "CephFSVolumeSource",
    "CinderVolumeSource",
    "FCVolumeSource",
    "FlexVolumeSource",
    "FlockerVolumeSource",
    "GCEPersistentDiskVolumeSource",
    "GitRepoVolumeSource",
    "GlusterfsVolumeSource",
    "ISCSIVolumeSource",
    "NFSVolumeSource",
    "PhotonPersistentDiskVolumeSource",
    "PortworxVolumeSource",
    "QuobyteVolumeSource",
    "RBDVolumeSource",
    "ScaleIOVolumeSource",
    "StorageOSVolumeSource",
    "VsphereVirtualDiskVolumeSource",
]


class AWSElasticBlockStoreVolumeSource(ApiStruct):
    """A disk of AWS."""

    volume_id: Annotated[str, Meta(description="Identity of the volume.", extra=REQUIRED)] = always(
        str, name="volumeID"
    )
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    partition: Annotated[Int32, Meta(description="Partition of the disk to mount; 0 is the whole disk.")] = 0
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class GCEPersistentDiskVolumeSource(ApiStruct):
    """A disk of GCE."""

    pd_name: Annotated[str, Meta(description="Name of the disk.", extra=REQUIRED)] = always(str)
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    partition: Annotated[Int32, Meta(description="Partition of the disk to mount; 0 is the whole disk.")] = 0
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class GitRepoVolumeSource(ApiStruct):
    """A git repository, cloned at the start."""

    repository: Annotated[str, Meta(description="Address of the repository.", extra=REQUIRED)] = always(str)
    revision: Annotated[str, Meta(description="Commit to check out.")] = ""
    directory: Annotated[str, Meta(description="Folder in the volume to clone into.")] = ""


class NFSVolumeSource(ApiStruct):
    """A share of an NFS server."""

    server: Annotated[str, Meta(description="Name or address of the server.", extra=REQUIRED)] = always(str)
    path: Annotated[str, Meta(description="Path the server exports.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class ISCSIVolumeSource(ApiStruct):
    """A disk of an iSCSI target."""

    target_portal: Annotated[str, Meta(description="Address of the target.", extra=REQUIRED)] = always(str)
    iqn: Annotated[str, Meta(description="Name of the target.", extra=REQUIRED)] = always(str)
    lun: Annotated[Int32, Meta(description="Logical unit of the target.", extra=REQUIRED)] = always(int)
    iscsi_interface: Annotated[str, Meta(description="Interface the initiator uses.", extra={"default": "default"})] = (
        ""
    )
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    portals: Annotated[tuple[str, ...], Meta(description="Further addresses of the target.", extra=ATOMIC)] = ()
    chap_auth_discovery: Annotated[bool, Meta(description="Whether discovery authenticates with CHAP.")] = False
    secret_ref: Annotated[LocalObjectReference | None, Meta(description="Secret with credentials.")] = None
    chap_auth_session: Annotated[bool, Meta(description="Whether the session authenticates with CHAP.")] = False
    initiator_name: Annotated[str | None, Meta(description="Name of the initiator.")] = None


class GlusterfsVolumeSource(ApiStruct):
    """A Gluster volume."""

    endpoints: Annotated[str, Meta(description="Endpoints object that lists the servers.", extra=REQUIRED)] = always(
        str
    )
    path: Annotated[str, Meta(description="Name of the volume.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class RBDVolumeSource(ApiStruct):
    """A block device of Ceph."""

    monitors: Annotated[tuple[str, ...], Meta(description="Addresses of the monitors.", extra=REQUIRED | ATOMIC)] = (
        always(lambda: ())
    )
    image: Annotated[str, Meta(description="Name of the image.", extra=REQUIRED)] = always(str)
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    pool: Annotated[str, Meta(description="Pool of the image.", extra={"default": "rbd"})] = ""
    user: Annotated[str, Meta(description="User to act as.", extra={"default": "admin"})] = ""
    keyring: Annotated[
        str, Meta(description="Path of the key ring on the node.", extra={"default": "/etc/ceph/keyring"})
    ] = ""
    secret_ref: Annotated[LocalObjectReference | None, Meta(description="Secret with credentials.")] = None
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class FlexVolumeSource(ApiStruct):
    """A volume of an out-of-tree exec driver."""

    driver: Annotated[str, Meta(description="Name of the driver.", extra=REQUIRED)] = always(str)
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    secret_ref: Annotated[LocalObjectReference | None, Meta(description="Secret with credentials.")] = None
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    options: Annotated[Mapping[str, str], Meta(description="Options for the driver.")] = {}


class CinderVolumeSource(ApiStruct):
    """A disk of OpenStack."""

    volume_id: Annotated[str, Meta(description="Identity of the volume.", extra=REQUIRED)] = always(
        str, name="volumeID"
    )
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    secret_ref: Annotated[LocalObjectReference | None, Meta(description="Secret with credentials.")] = None


class CephFSVolumeSource(ApiStruct):
    """A Ceph file system."""

    monitors: Annotated[tuple[str, ...], Meta(description="Addresses of the monitors.", extra=REQUIRED | ATOMIC)] = (
        always(lambda: ())
    )
    path: Annotated[str, Meta(description="Path in the file system.")] = ""
    user: Annotated[str, Meta(description="User to act as.")] = ""
    secret_file: Annotated[str, Meta(description="Path of the key on the node.")] = ""
    secret_ref: Annotated[LocalObjectReference | None, Meta(description="Secret with credentials.")] = None
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class FlockerVolumeSource(ApiStruct):
    """A Flocker dataset."""

    dataset_name: Annotated[str, Meta(description="Name of the dataset.")] = ""
    dataset_uuid: Annotated[str, Meta(description="Identity of the dataset.")] = field(default="", name="datasetUUID")


class FCVolumeSource(ApiStruct):
    """A Fibre Channel disk."""

    target_wwns: Annotated[tuple[str, ...], Meta(description="World-wide names of the targets.", extra=ATOMIC)] = field(
        default=(), name="targetWWNs"
    )
    lun: Annotated[Int32 | None, Meta(description="Logical unit of the target.")] = None
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    wwids: Annotated[tuple[str, ...], Meta(description="World-wide identities of the volume.", extra=ATOMIC)] = ()


class AzureFileVolumeSource(ApiStruct):
    """A file share of Azure."""

    secret_name: Annotated[str, Meta(description="Secret with the name and key of the account.", extra=REQUIRED)] = (
        always(str)
    )
    share_name: Annotated[str, Meta(description="Name of the share.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class AzureDiskVolumeSource(ApiStruct):
    """A disk of Azure."""

    disk_name: Annotated[str, Meta(description="Name of the disk.", extra=REQUIRED)] = always(str)
    disk_uri: Annotated[str, Meta(description="Address of the disk.", extra=REQUIRED)] = always(str, name="diskURI")
    caching_mode: Annotated[
        str | None,
        Meta(
            description="How the host caches.",
            extra={
                "enum": (
                    "None",
                    "ReadOnly",
                    "ReadWrite",
                )
            }
            | {"default": "ReadWrite"},
        ),
    ] = None
    fs_type: Annotated[str | None, Meta(description="File system of the volume.", extra={"default": "ext4"})] = None
    read_only: Annotated[bool | None, Meta(description="Whether the mount is read-only.", extra={"default": False})] = (
        None
    )
    kind: Annotated[
        str | None,
        Meta(
            description="How the disk is stored.",
            extra={
                "enum": (
                    "Dedicated",
                    "Managed",
                    "Shared",
                )
            }
            | {"default": "Shared"},
        ),
    ] = None


class VsphereVirtualDiskVolumeSource(ApiStruct):
    """A disk of vSphere."""

    volume_path: Annotated[str, Meta(description="Path of the disk.", extra=REQUIRED)] = always(str)
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    storage_policy_name: Annotated[str, Meta(description="Storage policy by name.")] = ""
    storage_policy_id: Annotated[str, Meta(description="Storage policy by identity.")] = field(
        default="", name="storagePolicyID"
    )


class QuobyteVolumeSource(ApiStruct):
    """A Quobyte volume."""

    registry: Annotated[str, Meta(description="Addresses of the registries.", extra=REQUIRED)] = always(str)
    volume: Annotated[str, Meta(description="Name of the volume.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    user: Annotated[str, Meta(description="User to act as.")] = ""
    group: Annotated[str, Meta(description="Group to map access to.")] = ""
    tenant: Annotated[str, Meta(description="Owner of the volume.")] = ""


class PhotonPersistentDiskVolumeSource(ApiStruct):
    """A disk of Photon."""

    pd_id: Annotated[str, Meta(description="Identity of the disk.", extra=REQUIRED)] = always(str, name="pdID")
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""


class PortworxVolumeSource(ApiStruct):
    """A Portworx volume."""

    volume_id: Annotated[str, Meta(description="Identity of the volume.", extra=REQUIRED)] = always(
        str, name="volumeID"
    )
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class ScaleIOVolumeSource(ApiStruct):
    """A ScaleIO volume."""

    gateway: Annotated[str, Meta(description="Address of the gateway.", extra=REQUIRED)] = always(str)
    system: Annotated[str, Meta(description="Name of the system.", extra=REQUIRED)] = always(str)
    secret_ref: Annotated[LocalObjectReference | None, Meta(description="Secret with credentials.", extra=REQUIRED)] = (
        always_null()
    )
    ssl_enabled: Annotated[bool, Meta(description="Whether to speak TLS with the gateway.")] = False
    protection_domain: Annotated[str, Meta(description="Protection domain of the storage.")] = ""
    storage_pool: Annotated[str, Meta(description="Pool of the protection domain.")] = ""
    storage_mode: Annotated[
        str, Meta(description="Whether the storage is thick or thin.", extra={"default": "ThinProvisioned"})
    ] = ""
    volume_name: Annotated[str, Meta(description="Name of the volume.")] = ""
    fs_type: Annotated[str, Meta(description="File system of the volume.", extra={"default": "xfs"})] = ""
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False


class StorageOSVolumeSource(ApiStruct):
    """A StorageOS volume."""

    volume_name: Annotated[str, Meta(description="Name of the volume.")] = ""
    volume_namespace: Annotated[str, Meta(description="Scope of the volume name.")] = ""
    fs_type: Annotated[str, Meta(description="File system of the volume.")] = ""
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    secret_ref: Annotated[LocalObjectReference | None, Meta(description="Secret with credentials.")] = None
