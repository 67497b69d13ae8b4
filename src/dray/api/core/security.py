"""With which rights and identities containers run.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int64, always

__all__ = [
    "AppArmorProfile",
    "Capabilities",
    "PodSecurityContext",
    "SELinuxOptions",
    "SeccompProfile",
    "SecurityContext",
    "Sysctl",
    "WindowsSecurityContextOptions",
]


class Capabilities(ApiStruct):
    """Linux capabilities beyond or short of the runtime's default."""

    add: Annotated[tuple[str, ...], Meta(description="Capabilities given.", extra=ATOMIC)] = ()
    drop: Annotated[tuple[str, ...], Meta(description="Capabilities taken away.", extra=ATOMIC)] = ()


class SELinuxOptions(ApiStruct):
    """SELinux context of the processes."""

    user: Annotated[str, Meta(description="SELinux user.")] = ""
    role: Annotated[str, Meta(description="SELinux role.")] = ""
    type: Annotated[str, Meta(description="SELinux type.")] = ""
    level: Annotated[str, Meta(description="SELinux level.")] = ""


class WindowsSecurityContextOptions(ApiStruct):
    """Settings for Windows containers."""

    gmsa_credential_spec_name: Annotated[str | None, Meta(description="Name of the credential spec to use.")] = None
    gmsa_credential_spec: Annotated[str | None, Meta(description="Content of the credential spec.")] = None
    run_as_user_name: Annotated[str | None, Meta(description="User the first process runs as.")] = None
    host_process: Annotated[bool | None, Meta(description="Whether the container runs as a process of the host.")] = (
        None
    )


class SeccompProfile(ApiStruct):
    """Filter of system calls."""

    schema_extensions: ClassVar[Mapping[str, object]] = {
        "x-kubernetes-unions": [
            {"discriminator": "type", "fields-to-discriminateBy": {"localhostProfile": "LocalhostProfile"}}
        ]
    }

    type: Annotated[
        str,
        Meta(
            description="Which kind of profile applies.",
            extra=REQUIRED
            | {
                "enum": (
                    "Localhost",
                    "RuntimeDefault",
                    "Unconfined",
                )
            },
        ),
    ] = always(str)
    localhost_profile: Annotated[
        str | None, Meta(description="Profile file on the node, relative to its seccomp folder.")
    ] = None


class AppArmorProfile(ApiStruct):
    """AppArmor confinement."""

    schema_extensions: ClassVar[Mapping[str, object]] = {
        "x-kubernetes-unions": [
            {"discriminator": "type", "fields-to-discriminateBy": {"localhostProfile": "LocalhostProfile"}}
        ]
    }

    type: Annotated[
        str,
        Meta(
            description="Which kind of profile applies.",
            extra=REQUIRED
            | {
                "enum": (
                    "Localhost",
                    "RuntimeDefault",
                    "Unconfined",
                )
            },
        ),
    ] = always(str)
    localhost_profile: Annotated[str | None, Meta(description="Profile loaded on the node.")] = None


class SecurityContext(ApiStruct):
    """Rights of one container; they win over those of the pod."""

    capabilities: Annotated[Capabilities | None, Meta(description="Linux capabilities to add and drop.")] = None
    privileged: Annotated[bool | None, Meta(description="Whether the container's root is as good as the host's.")] = (
        None
    )
    se_linux_options: Annotated[
        SELinuxOptions | None, Meta(description="SELinux context; absent is one chosen by the runtime.")
    ] = None
    run_as_user: Annotated[
        Int64 | None, Meta(description="User id of the first process; absent is what the image says.")
    ] = None
    run_as_non_root: Annotated[
        bool | None, Meta(description="Whether a container that would run as root is refused.")
    ] = None
    read_only_root_filesystem: Annotated[
        bool | None, Meta(description="Whether the root file system is read-only.")
    ] = None
    allow_privilege_escalation: Annotated[
        bool | None, Meta(description="Whether a process may gain more rights than its parent.")
    ] = None
    run_as_group: Annotated[
        Int64 | None, Meta(description="Group id of the first process; absent is the runtime's default.")
    ] = None
    proc_mount: Annotated[
        str | None,
        Meta(
            description="How /proc is mounted.",
            extra={
                "enum": (
                    "Default",
                    "Unmasked",
                )
            },
        ),
    ] = None
    windows_options: Annotated[
        WindowsSecurityContextOptions | None, Meta(description="Settings for Windows containers.")
    ] = None
    seccomp_profile: Annotated[SeccompProfile | None, Meta(description="Filter of system calls.")] = None
    app_armor_profile: Annotated[AppArmorProfile | None, Meta(description="AppArmor confinement.")] = None


class Sysctl(ApiStruct):
    """A kernel parameter."""

    name: Annotated[str, Meta(description="Name of the parameter.", extra=REQUIRED)] = always(str)
    value: Annotated[str, Meta(description="Value to set.", extra=REQUIRED)] = always(str)


class PodSecurityContext(ApiStruct):
    """Rights of all containers of a pod, and ownership of its volumes."""

    se_linux_options: Annotated[
        SELinuxOptions | None,
        Meta(description="SELinux context of all containers; absent is one chosen by the runtime."),
    ] = None
    run_as_user: Annotated[
        Int64 | None, Meta(description="User id of the first process; absent is what the image says.")
    ] = None
    run_as_non_root: Annotated[
        bool | None, Meta(description="Whether a container that would run as root is refused.")
    ] = None
    supplemental_groups: Annotated[
        tuple[Int64, ...], Meta(description="Further groups of the first process.", extra=ATOMIC)
    ] = ()
    fs_group: Annotated[
        Int64 | None,
        Meta(description="Group that owns volumes able to be owned, and of which every process is a member."),
    ] = None
    run_as_group: Annotated[
        Int64 | None, Meta(description="Group id of the first process; absent is the runtime's default.")
    ] = None
    sysctls: Annotated[tuple[Sysctl, ...], Meta(description="Kernel parameters of the pod.", extra=ATOMIC)] = ()
    windows_options: Annotated[
        WindowsSecurityContextOptions | None, Meta(description="Settings for Windows containers.")
    ] = None
    fs_group_change_policy: Annotated[
        str | None,
        Meta(
            description="Whether volumes are always given to fsGroup, or only when their root differs.",
            extra={
                "enum": (
                    "Always",
                    "OnRootMismatch",
                )
            },
        ),
    ] = None
    seccomp_profile: Annotated[SeccompProfile | None, Meta(description="Filter of system calls.")] = None
    app_armor_profile: Annotated[AppArmorProfile | None, Meta(description="AppArmor confinement.")] = None
    supplemental_groups_policy: Annotated[
        str | None,
        Meta(
            description="Whether groups the image defines are added; absent is Merge.",
            extra={
                "enum": (
                    "Merge",
                    "Strict",
                )
            },
        ),
    ] = None
    se_linux_change_policy: Annotated[
        str | None, Meta(description="How volumes get the SELinux label, Recursive or MountOption.")
    ] = None
