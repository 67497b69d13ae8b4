"""Applying devices of CDI files to a container: from the names that drivers answered to what the container is given.

The result is what an OCI runtime would write into its own configuration, in the same order of steps.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from dray.driver.cdi import (
    NO_EDITS,
    CdiSpec,
    ContainerEdits,
    DeviceNode,
    Hook,
    IntelRdt,
    Mount,
    NetDevice,
    merge_edits,
    parse_qualified_name,
)
from dray.errors import DrayError

__all__ = ["ContainerShape", "UnresolvableDevices", "apply_edits", "index_specs", "resolve_edits"]

NodeFacts = Callable[[DeviceNode], DeviceNode]
"""Fills in what the host knows of a device node. Raises UnresolvableDevices where the host has no such node."""


class UnresolvableDevices(DrayError):
    """A container asks for devices that no CDI file has: it cannot be made."""


class ContainerShape(Struct, frozen=True):
    """What a container is given, besides its image."""

    env: Mapping[str, str] = {}
    device_nodes: tuple[DeviceNode, ...] = ()
    net_devices: tuple[NetDevice, ...] = ()
    mounts: tuple[Mount, ...] = ()
    hooks: tuple[Hook, ...] = ()
    intel_rdt: IntelRdt | None = None
    additional_gids: tuple[int, ...] = ()


class _Indexed(Struct, frozen=True):
    """A device and the file it stands in."""

    spec: CdiSpec
    edits: ContainerEdits


def index_specs(folders: Iterable[Iterable[CdiSpec]]) -> dict[str, _Indexed | None]:
    """Devices by qualified name, from folders in rising order of priority.

    A device that two files of the same folder define is None: nobody can say which is meant.
    """
    index: dict[str, _Indexed | None] = {}
    for specs in folders:
        here: dict[str, _Indexed | None] = {}
        for spec in specs:
            for device in spec.devices:
                name = f"{spec.kind}={device.name}"
                here[name] = None if name in here else _Indexed(spec, device.container_edits)
        index.update(here)
    return index


def resolve_edits(names: Iterable[str], index: Mapping[str, _Indexed | None]) -> ContainerEdits:
    """The edits of some devices, merged in the order asked for; those of a file come once, before its first device.

    Raises UnresolvableDevices, which names all that are not there.
    """
    wanted = list(dict.fromkeys(names))
    missing = [name for name in wanted if parse_qualified_name(name) is None or index.get(name) is None]
    if missing:
        raise UnresolvableDevices(f"unresolvable CDI devices {', '.join(missing)}")
    parts: list[ContainerEdits] = []
    seen: list[CdiSpec] = []
    for name in wanted:
        found = index[name]
        assert found is not None
        if not any(each is found.spec for each in seen):
            seen.append(found.spec)
            parts.append(found.spec.container_edits)
        parts.append(found.edits)
    return merge_edits(*parts) if parts else NO_EDITS


def apply_edits(shape: ContainerShape, edits: ContainerEdits, fill: NodeFacts = lambda node: node) -> ContainerShape:
    """The shape with edits applied. A later variable, node or mount takes the place of one of the same name or path."""
    env = dict(shape.env)
    for entry in edits.env:
        name, _, value = entry.partition("=")
        env[name] = value
    nodes = {node.path: node for node in shape.device_nodes}
    for node in edits.device_nodes:
        nodes.pop(node.path, None)
        nodes[node.path] = fill(node)
    mounts = {mount.container_path: mount for mount in shape.mounts}
    for mount in edits.mounts:
        mounts.pop(mount.container_path, None)
        mounts[mount.container_path] = mount
    gids = dict.fromkeys((*shape.additional_gids, *(each for each in edits.additional_gids if each)))
    nets = {each.host_interface_name: each for each in (*shape.net_devices, *edits.net_devices)}
    return ContainerShape(
        env=env,
        device_nodes=tuple(nodes.values()),
        net_devices=tuple(nets.values()),
        mounts=tuple(sorted(mounts.values(), key=_depth)),
        hooks=(*shape.hooks, *edits.hooks),
        intel_rdt=edits.intel_rdt or shape.intel_rdt,
        additional_gids=tuple(gids),
    )


def _depth(mount: Mount) -> int:
    """Components of the path: a folder is mounted before what lies in it."""
    return len([each for each in mount.container_path.split("/") if each])
