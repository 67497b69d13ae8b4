"""What containers get for NVIDIA devices: device nodes and variables like those of the real driver.

Libraries, hooks and firmware that the real one mounts do not exist on a simulated node and are left out. Major numbers
of character devices are those usual on Linux; where the kernel hands them out at run time they are made up.
"""

from typing import Final

from dray.driver.cdi import ContainerEdits, DeviceNode, Mount, env
from dray.drivers.sim.nvidia.config import BackendPolicy, Iommu

__all__ = [
    "ALL_CHANNELS",
    "channel_edits",
    "common_edits",
    "daemon_edits",
    "gpu_edits",
    "instance_edits",
    "mps_edits",
    "vfio_common_edits",
    "vfio_edits",
]

_NVIDIA: Final = 195
_CONTROL_MINOR: Final = 255
_UVM: Final = 510
_CAPABILITIES: Final = 511
_CHANNELS: Final = 512
_DRM: Final = 226
_VFIO: Final = 513
_MISC: Final = 10
_VFIO_MINOR: Final = 196
_IOMMU_MINOR: Final = 126

_FIRST_CAPABILITY: Final = 3
_CAPABILITIES_OF_GPU: Final = 135
_CAPABILITIES_OF_INSTANCE: Final = 9
_FIRST_GROUP: Final = 40
ALL_CHANNELS: Final = 2048

_VOID: Final = env(NVIDIA_VISIBLE_DEVICES="void")


def _node(path: str, major: int, minor: int) -> DeviceNode:
    return DeviceNode(path=path, type="c", major=major, minor=minor)


def common_edits() -> ContainerEdits:
    """Once for every container that has GPUs or MIG devices."""
    control = (
        _node("/dev/nvidiactl", _NVIDIA, _CONTROL_MINOR),
        _node("/dev/nvidia-uvm", _UVM, 0),
        _node("/dev/nvidia-uvm-tools", _UVM, 1),
    )
    return ContainerEdits(env=_VOID, device_nodes=control)


def vfio_common_edits() -> ContainerEdits:
    """Once for every container that has GPUs for a virtual machine."""
    return ContainerEdits(env=_VOID)


def gpu_edits(minor: int) -> ContainerEdits:
    """A full GPU."""
    nodes = (
        _node(f"/dev/nvidia{minor}", _NVIDIA, minor),
        _node(f"/dev/dri/card{minor + 1}", _DRM, minor + 1),
        _node(f"/dev/dri/renderD{128 + minor}", _DRM, 128 + minor),
    )
    return ContainerEdits(device_nodes=nodes)


def instance_edits(minor: int, instance: int) -> ContainerEdits:
    """A MIG device: its GPU, the capability of the GPU instance, and that of the compute instance in it."""
    capability = _FIRST_CAPABILITY + minor * _CAPABILITIES_OF_GPU + instance * _CAPABILITIES_OF_INSTANCE
    nodes = (
        _node(f"/dev/nvidia{minor}", _NVIDIA, minor),
        _node(f"/dev/nvidia-caps/nvidia-cap{capability}", _CAPABILITIES, capability),
        _node(f"/dev/nvidia-caps/nvidia-cap{capability + 1}", _CAPABILITIES, capability + 1),
    )
    return ContainerEdits(device_nodes=nodes)


def mps_edits(folder: str) -> ContainerEdits:
    """A device that is shared through the control daemon whose folder this is."""
    options = ("rw", "nosuid", "nodev", "bind")
    return ContainerEdits(
        env=env(CUDA_MPS_PIPE_DIRECTORY="/tmp/nvidia-mps"),
        mounts=(
            Mount(host_path=f"{folder}/shm", container_path="/dev/shm", options=options),
            Mount(host_path=f"{folder}/pipe", container_path="/tmp/nvidia-mps", options=options),
        ),
    )


def vfio_edits(minor: int, iommu: Iommu) -> ContainerEdits:
    """A GPU for a virtual machine. Simulated nodes have both interfaces of the kernel."""
    uses_fd = iommu.backend_policy is BackendPolicy.PREFER_IOMMU_FD
    group = _FIRST_GROUP + minor
    nodes = [
        _node(f"/dev/vfio/devices/vfio{minor}", _VFIO, minor) if uses_fd else _node(f"/dev/vfio/{group}", _VFIO, group)
    ]
    if iommu.enable_api_device:
        api = _node("/dev/iommu", _MISC, _IOMMU_MINOR) if uses_fd else _node("/dev/vfio/vfio", _MISC, _VFIO_MINOR)
        nodes.append(api)
    return ContainerEdits(device_nodes=tuple(nodes))


def channel_edits(channels: int) -> ContainerEdits:
    """Channels to the memory of GPUs on other nodes, from the first on."""
    folder = "/dev/nvidia-caps-imex-channels"
    return ContainerEdits(
        device_nodes=tuple(_node(f"{folder}/channel{each}", _CHANNELS, each) for each in range(channels))
    )


def daemon_edits(domain: str, clique: str) -> ContainerEdits:
    """What the daemon of a domain works with."""
    folder = Mount(
        host_path=f"/var/lib/kubelet/plugins/compute-domain.nvidia.com/domains/{domain}",
        container_path="/imexd",
        options=("rw", "nosuid", "nodev", "bind"),
    )
    return ContainerEdits(env=env(COMPUTE_DOMAIN_UUID=domain, CLIQUE_ID=clique), mounts=(folder,))
