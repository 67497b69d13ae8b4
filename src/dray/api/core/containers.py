"""The containers of a pod - regular, init and ephemeral.

Written by tools/generate_core_types.py; change its table, not this.
"""

from typing import Annotated

from msgspec import Meta, field

from dray.api.core.environment import EnvFromSource, EnvVar
from dray.api.core.probes import Lifecycle, Probe
from dray.api.core.resources import ResourceRequirements
from dray.api.core.security import SecurityContext
from dray.api.struct import ATOMIC, REQUIRED, SET, ApiStruct, Int32, always, list_map

__all__ = [
    "Container",
    "ContainerPort",
    "ContainerResizePolicy",
    "ContainerRestartRule",
    "ContainerRestartRuleOnExitCodes",
    "EphemeralContainer",
    "VolumeDevice",
    "VolumeMount",
]


class ContainerPort(ApiStruct):
    """A port the container listens on. Leaving it out does not close it."""

    name: Annotated[str, Meta(description="Name of the port, unique in the pod, for services and probes.")] = ""
    host_port: Annotated[Int32, Meta(description="Port of the host that leads to it.")] = 0
    container_port: Annotated[Int32, Meta(description="Port in the container.", extra=REQUIRED)] = always(int)
    protocol: Annotated[
        str,
        Meta(
            description="Protocol of the port; absent is TCP.",
            extra={
                "enum": (
                    "SCTP",
                    "TCP",
                    "UDP",
                )
            }
            | {"default": "TCP"},
        ),
    ] = ""
    host_ip: Annotated[str, Meta(description="Address of the host the host port is bound to.")] = field(
        default="", name="hostIP"
    )


class ContainerResizePolicy(ApiStruct):
    """What a change of one resource does to a running container."""

    resource_name: Annotated[str, Meta(description="The resource that is resized.", extra=REQUIRED)] = always(str)
    restart_policy: Annotated[
        str, Meta(description="NotRequired keeps the container running, RestartContainer restarts it.", extra=REQUIRED)
    ] = always(str)


class ContainerRestartRuleOnExitCodes(ApiStruct):
    """A set of exit codes."""

    operator: Annotated[
        str, Meta(description="Whether the exit code must be In or NotIn the values.", extra=REQUIRED)
    ] = ""
    values: Annotated[tuple[Int32, ...], Meta(description="The exit codes.", extra=SET)] = ()


class ContainerRestartRule(ApiStruct):
    """What to do when a container ends in a certain way."""

    action: Annotated[str, Meta(description="What to do.", extra=REQUIRED)] = ""
    exit_codes: Annotated[ContainerRestartRuleOnExitCodes | None, Meta(description="Exit codes the rule is for.")] = (
        None
    )


class VolumeMount(ApiStruct):
    """Where a volume of the pod appears in the container."""

    name: Annotated[str, Meta(description="Entry of spec.volumes of the pod.", extra=REQUIRED)] = always(str)
    read_only: Annotated[bool, Meta(description="Whether the mount is read-only.")] = False
    mount_path: Annotated[str, Meta(description="Path in the container; may not contain a colon.", extra=REQUIRED)] = (
        always(str)
    )
    sub_path: Annotated[str, Meta(description="Path in the volume that is mounted; absent is its root.")] = ""
    mount_propagation: Annotated[
        str | None,
        Meta(
            description="Whether later mounts below it are seen across the border of the container.",
            extra={
                "enum": (
                    "Bidirectional",
                    "HostToContainer",
                    "None",
                )
            },
        ),
    ] = None
    sub_path_expr: Annotated[str, Meta(description="As subPath, with $(NAME) replaced by environment variables.")] = ""
    recursive_read_only: Annotated[
        str | None, Meta(description="Whether mounts below a read-only mount are read-only too.")
    ] = None
    bind_mount_options: Annotated[
        tuple[str, ...], Meta(description="Further options of the bind mount.", extra=SET)
    ] = ()


class VolumeDevice(ApiStruct):
    """Where a raw block volume of the pod appears in the container."""

    name: Annotated[str, Meta(description="Entry of spec.volumes of the pod.", extra=REQUIRED)] = always(str)
    device_path: Annotated[str, Meta(description="Path of the device in the container.", extra=REQUIRED)] = always(str)


class Container(ApiStruct):
    """One container of a pod."""

    name: Annotated[str, Meta(description="Name of the container, a DNS label, unique in the pod.", extra=REQUIRED)] = (
        always(str)
    )
    image: Annotated[str, Meta(description="Image the container runs.")] = ""
    command: Annotated[
        tuple[str, ...],
        Meta(
            description="Program to run instead of the image's entry point, with $(NAME) replaced by variables.",
            extra=ATOMIC,
        ),
    ] = ()
    args: Annotated[
        tuple[str, ...],
        Meta(description="Arguments instead of the image's, with $(NAME) replaced by variables.", extra=ATOMIC),
    ] = ()
    working_dir: Annotated[str, Meta(description="Working folder; absent is what the image says.")] = ""
    ports: Annotated[
        tuple[ContainerPort, ...],
        Meta(description="Ports the container listens on.", extra=list_map("containerPort", "protocol")),
    ] = ()
    env: Annotated[tuple[EnvVar, ...], Meta(description="Environment variables.", extra=list_map("name"))] = ()
    resources: Annotated[ResourceRequirements, Meta(description="Amounts and devices the container needs.")] = always(
        ResourceRequirements
    )
    volume_mounts: Annotated[
        tuple[VolumeMount, ...], Meta(description="Where volumes of the pod appear.", extra=list_map("mountPath"))
    ] = ()
    liveness_probe: Annotated[Probe | None, Meta(description="Failure restarts the container.")] = None
    readiness_probe: Annotated[Probe | None, Meta(description="Failure takes the pod out of its services.")] = None
    lifecycle: Annotated[Lifecycle | None, Meta(description="Hooks at the start and the end.")] = None
    termination_message_path: Annotated[
        str,
        Meta(
            description="File whose content becomes the last message of the container; absent is /dev/termination-log."
        ),
    ] = ""
    image_pull_policy: Annotated[
        str,
        Meta(
            description="When the image is pulled; absent is Always for the tag latest, else IfNotPresent.",
            extra={
                "enum": (
                    "Always",
                    "IfNotPresent",
                    "Never",
                )
            },
        ),
    ] = ""
    security_context: Annotated[SecurityContext | None, Meta(description="Rights of the container.")] = None
    stdin: Annotated[bool, Meta(description="Whether standard input stays open for attaching.")] = False
    stdin_once: Annotated[
        bool, Meta(description="Whether standard input is closed after the first client has left.")
    ] = False
    tty: Annotated[bool, Meta(description="Whether the container gets a terminal; needs stdin.")] = False
    env_from: Annotated[
        tuple[EnvFromSource, ...],
        Meta(description="Config maps and secrets whose keys become variables; env wins.", extra=ATOMIC),
    ] = ()
    termination_message_policy: Annotated[
        str,
        Meta(
            description="Whether the last lines of the log stand in for a missing last message.",
            extra={
                "enum": (
                    "FallbackToLogsOnError",
                    "File",
                )
            },
        ),
    ] = ""
    volume_devices: Annotated[
        tuple[VolumeDevice, ...],
        Meta(description="Where raw block volumes of the pod appear.", extra=list_map("devicePath")),
    ] = ()
    startup_probe: Annotated[
        Probe | None, Meta(description="Until it succeeds, the other probes wait; failure restarts the container.")
    ] = None
    resize_policy: Annotated[
        tuple[ContainerResizePolicy, ...], Meta(description="What resizing does, by resource.", extra=ATOMIC)
    ] = ()
    restart_policy: Annotated[
        str | None,
        Meta(description="Restart policy of this container alone; Always makes an init container a sidecar."),
    ] = None
    restart_policy_rules: Annotated[
        tuple[ContainerRestartRule, ...],
        Meta(description="Rules that come before the restart policy when the container ends.", extra=ATOMIC),
    ] = ()


class EphemeralContainer(ApiStruct):
    """A container added to a running pod to look into it. It is never restarted and has no resources of its own."""

    name: Annotated[str, Meta(description="Name of the container, a DNS label, unique in the pod.", extra=REQUIRED)] = (
        always(str)
    )
    image: Annotated[str, Meta(description="Image the container runs.")] = ""
    command: Annotated[
        tuple[str, ...],
        Meta(
            description="Program to run instead of the image's entry point, with $(NAME) replaced by variables.",
            extra=ATOMIC,
        ),
    ] = ()
    args: Annotated[
        tuple[str, ...],
        Meta(description="Arguments instead of the image's, with $(NAME) replaced by variables.", extra=ATOMIC),
    ] = ()
    working_dir: Annotated[str, Meta(description="Working folder; absent is what the image says.")] = ""
    ports: Annotated[
        tuple[ContainerPort, ...],
        Meta(description="Ports the container listens on.", extra=list_map("containerPort", "protocol")),
    ] = ()
    env: Annotated[tuple[EnvVar, ...], Meta(description="Environment variables.", extra=list_map("name"))] = ()
    resources: Annotated[ResourceRequirements, Meta(description="Amounts and devices the container needs.")] = always(
        ResourceRequirements
    )
    volume_mounts: Annotated[
        tuple[VolumeMount, ...], Meta(description="Where volumes of the pod appear.", extra=list_map("mountPath"))
    ] = ()
    liveness_probe: Annotated[Probe | None, Meta(description="Failure restarts the container.")] = None
    readiness_probe: Annotated[Probe | None, Meta(description="Failure takes the pod out of its services.")] = None
    lifecycle: Annotated[Lifecycle | None, Meta(description="Hooks at the start and the end.")] = None
    termination_message_path: Annotated[
        str,
        Meta(
            description="File whose content becomes the last message of the container; absent is /dev/termination-log."
        ),
    ] = ""
    image_pull_policy: Annotated[
        str,
        Meta(
            description="When the image is pulled; absent is Always for the tag latest, else IfNotPresent.",
            extra={
                "enum": (
                    "Always",
                    "IfNotPresent",
                    "Never",
                )
            },
        ),
    ] = ""
    security_context: Annotated[SecurityContext | None, Meta(description="Rights of the container.")] = None
    stdin: Annotated[bool, Meta(description="Whether standard input stays open for attaching.")] = False
    stdin_once: Annotated[
        bool, Meta(description="Whether standard input is closed after the first client has left.")
    ] = False
    tty: Annotated[bool, Meta(description="Whether the container gets a terminal; needs stdin.")] = False
    env_from: Annotated[
        tuple[EnvFromSource, ...],
        Meta(description="Config maps and secrets whose keys become variables; env wins.", extra=ATOMIC),
    ] = ()
    termination_message_policy: Annotated[
        str,
        Meta(
            description="Whether the last lines of the log stand in for a missing last message.",
            extra={
                "enum": (
                    "FallbackToLogsOnError",
                    "File",
                )
            },
        ),
    ] = ""
    volume_devices: Annotated[
        tuple[VolumeDevice, ...],
        Meta(description="Where raw block volumes of the pod appear.", extra=list_map("devicePath")),
    ] = ()
    startup_probe: Annotated[
        Probe | None, Meta(description="Until it succeeds, the other probes wait; failure restarts the container.")
    ] = None
    resize_policy: Annotated[
        tuple[ContainerResizePolicy, ...], Meta(description="What resizing does, by resource.", extra=ATOMIC)
    ] = ()
    restart_policy: Annotated[
        str | None,
        Meta(description="Restart policy of this container alone; Always makes an init container a sidecar."),
    ] = None
    restart_policy_rules: Annotated[
        tuple[ContainerRestartRule, ...],
        Meta(description="Rules that come before the restart policy when the container ends.", extra=ATOMIC),
    ] = ()
    target_container_name: Annotated[
        str, Meta(description="Container whose processes it sees; absent is the pod's own setting.")
    ] = ""
