"""What is known about the containers of a pod.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, field

from dray.api.core.resources import ResourceRequirements
from dray.api.core.signals import SIGNALS
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, Int64, always, always_null, list_map
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = [
    "ContainerState",
    "ContainerStateRunning",
    "ContainerStateTerminated",
    "ContainerStateWaiting",
    "ContainerStatus",
    "ContainerUser",
    "ImageVolumeStatus",
    "LinuxContainerUser",
    "ResourceHealth",
    "ResourceStatus",
    "VolumeMountStatus",
    "VolumeStatus",
]


class ContainerStateWaiting(ApiStruct):
    """The container has not started."""

    reason: Annotated[str, Meta(description="Why, as one word.")] = ""
    message: Annotated[str, Meta(description="Why, in a sentence.")] = ""


class ContainerStateRunning(ApiStruct):
    """The container runs."""

    started_at: Annotated[Time | None, Meta(description="Since when.")] = always_null()


class ContainerStateTerminated(ApiStruct):
    """The container has ended."""

    exit_code: Annotated[Int32, Meta(description="Exit code of the first process.", extra=REQUIRED)] = always(int)
    signal: Annotated[Int32, Meta(description="Signal that ended it.")] = 0
    reason: Annotated[str, Meta(description="Why, as one word.")] = ""
    message: Annotated[str, Meta(description="Last message of the container.")] = ""
    started_at: Annotated[Time | None, Meta(description="When this run began.")] = always_null()
    finished_at: Annotated[Time | None, Meta(description="When this run ended.")] = always_null()
    container_id: Annotated[str, Meta(description="Identity of the run.")] = field(default="", name="containerID")


class ContainerState(ApiStruct):
    """State of a container; at most one member is set, none means waiting."""

    waiting: Annotated[ContainerStateWaiting | None, Meta(description="It has not started.")] = None
    running: Annotated[ContainerStateRunning | None, Meta(description="It runs.")] = None
    terminated: Annotated[ContainerStateTerminated | None, Meta(description="It has ended.")] = None


class ResourceHealth(ApiStruct):
    """Health of one device a container uses."""

    resource_id: Annotated[
        str, Meta(description="Which device: for claimed ones, driver/pool/device.", extra=REQUIRED)
    ] = always(str, name="resourceID")
    health: Annotated[str, Meta(description="Healthy, Unhealthy or Unknown.")] = ""
    message: Annotated[str | None, Meta(description="Details, from the driver.")] = None


class ResourceStatus(ApiStruct):
    """Health of the devices that came with one resource or claim."""

    name: Annotated[
        str, Meta(description="Resource name, or claim:<name> with /<request> for claimed devices.", extra=REQUIRED)
    ] = always(str)
    resources: Annotated[
        tuple[ResourceHealth, ...], Meta(description="Health of each device.", extra=list_map("resourceID", patch=""))
    ] = ()


class LinuxContainerUser(ApiStruct):
    """Identity of the first process."""

    uid: Annotated[Int64, Meta(description="User id.", extra=REQUIRED)] = always(int)
    gid: Annotated[Int64, Meta(description="Group id.", extra=REQUIRED)] = always(int)
    supplemental_groups: Annotated[tuple[Int64, ...], Meta(description="Further groups.", extra=ATOMIC)] = ()


class ContainerUser(ApiStruct):
    """Identity of the first process."""

    linux: Annotated[LinuxContainerUser | None, Meta(description="Identity on Linux.")] = None


class ImageVolumeStatus(ApiStruct):
    """State of an image volume."""

    image_ref: Annotated[str, Meta(description="The image that is mounted.", extra=REQUIRED)] = ""


class VolumeStatus(ApiStruct):
    """State of a mounted volume."""

    image: Annotated[ImageVolumeStatus | None, Meta(description="State of an image volume.")] = None


class VolumeMountStatus(ApiStruct):
    """How a volume is really mounted."""

    name: Annotated[str, Meta(description="Name of the volume.", extra=REQUIRED)] = always(str)
    mount_path: Annotated[str, Meta(description="Path in the container.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    recursive_read_only: Annotated[str | None, Meta(description="Whether mounts below it are read-only too.")] = None
    volume_status: Annotated[VolumeStatus | None, Meta(description="State of the volume.")] = None


class ContainerStatus(ApiStruct):
    """What is known about one container."""

    name: Annotated[str, Meta(description="Name of the container.", extra=REQUIRED)] = always(str)
    state: Annotated[ContainerState, Meta(description="What it does now.")] = always(ContainerState)
    last_state: Annotated[ContainerState, Meta(description="What became of the run before.")] = always(ContainerState)
    ready: Annotated[bool, Meta(description="Whether its readiness probe succeeds.", extra=REQUIRED)] = always(bool)
    restart_count: Annotated[Int32, Meta(description="How often it has been restarted.", extra=REQUIRED)] = always(int)
    image: Annotated[str, Meta(description="Image it runs.", extra=REQUIRED)] = always(str)
    image_id: Annotated[str, Meta(description="Identity of the image.", extra=REQUIRED)] = always(str, name="imageID")
    container_id: Annotated[str, Meta(description="Identity of this run.")] = field(default="", name="containerID")
    started: Annotated[
        bool | None, Meta(description="Whether its startup probe has succeeded and its start hook is done.")
    ] = None
    allocated_resources: Annotated[
        Mapping[str, Quantity], Meta(description="Amounts the node has set aside for it.")
    ] = {}
    resources: Annotated[ResourceRequirements | None, Meta(description="Amounts it really runs with.")] = None
    volume_mounts: Annotated[
        tuple[VolumeMountStatus, ...], Meta(description="How its volumes are mounted.", extra=list_map("mountPath"))
    ] = ()
    user: Annotated[ContainerUser | None, Meta(description="Identity of its first process.")] = None
    allocated_resources_status: Annotated[
        tuple[ResourceStatus, ...], Meta(description="Health of the devices it uses.", extra=list_map("name"))
    ] = ()
    stop_signal: Annotated[str | None, Meta(description="Signal that tells it to stop.", extra={"enum": SIGNALS})] = (
        None
    )
