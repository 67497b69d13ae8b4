"""What a container gets for a device, in the words of the Container Device Interface.

A CDI file names devices and says how each changes a container: variables, device nodes, mounts, network interfaces,
hooks. These Structs are that file, field by field. A driver fills `ContainerEdits`; the SDK writes the file; whoever
starts containers reads it and applies the edits. Rules of meaning are in `dray.driver.cdirules`.
"""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

__all__ = [
    "NO_EDITS",
    "CdiDevice",
    "CdiSpec",
    "ContainerEdits",
    "DeviceNode",
    "Hook",
    "IntelRdt",
    "Mount",
    "NetDevice",
    "QualifiedName",
    "env",
    "merge_edits",
    "parse_qualified_name",
]

UInt32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class _CdiStruct(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """A part of a CDI file: absent is omitted, and an unknown field makes the file invalid."""


class DeviceNode(_CdiStruct, frozen=True, kw_only=True):
    """A device file in the container. What is absent is taken from the file at `host_path`, or else at `path`."""

    path: str
    host_path: str = ""
    type: str = ""
    """`b`, `c`, `u` or `p`."""
    major: Int64 = 0
    minor: Int64 = 0
    file_mode: int | None = None
    permissions: str = ""
    """What the cgroup lets the container do: some of `rwm`. Empty means all three."""
    uid: UInt32 | None = None
    gid: UInt32 | None = None


class NetDevice(_CdiStruct, frozen=True, kw_only=True):
    """A network interface of the host that moves into the container's network namespace."""

    host_interface_name: str
    name: str
    """Its name in the container."""


class Mount(_CdiStruct, frozen=True, kw_only=True):
    """A path of the host that appears in the container."""

    host_path: str
    container_path: str
    options: tuple[str, ...] = ()
    type: str = ""


class Hook(_CdiStruct, frozen=True, kw_only=True):
    """A program of the host that the runtime runs at one moment of the container's life."""

    hook_name: str
    """`prestart`, `createRuntime`, `createContainer`, `startContainer`, `poststart` or `poststop`."""
    path: str
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    timeout: int | None = None
    """In seconds."""


class IntelRdt(_CdiStruct, frozen=True, kw_only=True):
    """Cache and memory bandwidth of the container, on processors of Intel."""

    clos_id: str = field(default="", name="closID")
    l3_cache_schema: str = ""
    mem_bw_schema: str = ""
    schemata: tuple[str, ...] = ()
    enable_monitoring: bool = False


class ContainerEdits(_CdiStruct, frozen=True, kw_only=True):
    """Everything that changes in a container. Empty edits change nothing."""

    env: tuple[str, ...] = ()
    """`NAME=VALUE` each; `dray.driver.env` writes them from names and values."""
    device_nodes: tuple[DeviceNode, ...] = ()
    net_devices: tuple[NetDevice, ...] = ()
    mounts: tuple[Mount, ...] = ()
    hooks: tuple[Hook, ...] = ()
    intel_rdt: IntelRdt | None = None
    additional_gids: tuple[UInt32, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the container stays as it is."""
        return self == NO_EDITS


NO_EDITS = ContainerEdits()
"""Nothing changes."""


class CdiDevice(_CdiStruct, frozen=True, kw_only=True):
    """A device that containers may ask for by `<kind of the spec>=<name>`."""

    name: str
    annotations: Mapping[str, str] = {}
    container_edits: ContainerEdits


class CdiSpec(_CdiStruct, frozen=True, kw_only=True):
    """A CDI file. Its own edits are applied once to every container that asks for any of its devices."""

    cdi_version: str
    kind: str
    """`<vendor>/<class>`."""
    annotations: Mapping[str, str] = {}
    devices: tuple[CdiDevice, ...]
    container_edits: ContainerEdits = NO_EDITS


class QualifiedName(NamedTuple):
    """What containers ask for: `<vendor>/<class>=<name>`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}={self.name}"


def parse_qualified_name(text: str) -> QualifiedName | None:
    """Read `<vendor>/<class>=<name>`; None where the text has another form, such as a path below /dev."""
    kind, equals, name = text.partition("=")
    vendor, slash, device_class = kind.partition("/")
    if not (equals and slash and vendor and device_class and name):
        return None
    return QualifiedName(kind, name)


def env(variables: Mapping[str, object] | None = None, /, **more: object) -> tuple[str, ...]:
    """Write variables as `NAME=VALUE`, in the order given; True and False become `true` and `false`."""
    return tuple(f"{name}={_render(value)}" for name, value in {**(variables or {}), **more}.items())


def merge_edits(*edits: ContainerEdits) -> ContainerEdits:
    """Put edits one after another; of IntelRdt the last one counts."""
    return ContainerEdits(
        env=tuple(each for one in edits for each in one.env),
        device_nodes=tuple(each for one in edits for each in one.device_nodes),
        net_devices=tuple(each for one in edits for each in one.net_devices),
        mounts=tuple(each for one in edits for each in one.mounts),
        hooks=tuple(each for one in edits for each in one.hooks),
        intel_rdt=next((one.intel_rdt for one in reversed(edits) if one.intel_rdt is not None), None),
        additional_gids=tuple(dict.fromkeys(each for one in edits for each in one.additional_gids)),
    )


def _render(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
