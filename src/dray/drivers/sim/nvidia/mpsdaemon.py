"""Control daemons of MPS: one for the devices of a claim that share a configuration, as a pod on the claim's node.

The real driver makes a Deployment of one replica, of which this is the pod. It runs while the claim is prepared, and
its command is the list of what the real one tells its daemon.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from dray.api.core.containers import Container
from dray.api.core.environment import EnvVar
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.taints import Toleration
from dray.api.meta import ObjectMeta
from dray.client.port import Client, ObjectName
from dray.drivers.sim.driver import PrepareRefused
from dray.drivers.sim.nvidia.config import MpsConfig
from dray.effects.clock import Clock
from dray.errors import AlreadyExists, NotFound

__all__ = [
    "DAEMON_NAMESPACE",
    "DAEMON_PREFIX",
    "MpsDaemon",
    "describe_daemon",
    "end_daemon",
    "ensure_daemon",
]

DAEMON_NAMESPACE: Final = "kube-system"
DAEMON_PREFIX: Final = "mps-control-daemon-"
_IMAGE: Final = "registry.example.com/mps-control-daemon:1"
_FIRST_LOOK_SECONDS: Final = 0.02
_LAST_LOOK_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 30.0
"""Below the 45 s after which a kubelet gives up, so that the pod hears what is wrong."""


class MpsDaemon(Struct, frozen=True):
    """A daemon as it should be."""

    claim_uid: str
    config: MpsConfig
    uuids: tuple[str, ...]
    """Of the devices that it serves."""
    limits: Mapping[str, str]
    """Of memory, by UUID, as MPS takes them."""

    @property
    def name(self) -> str:
        """What its pod is called; the same again for the same devices."""
        digest = hashlib.sha256(",".join(sorted(self.uuids)).encode()).hexdigest()
        return f"{DAEMON_PREFIX}{self.claim_uid}-{digest[:5]}"


def describe_daemon(daemon: MpsDaemon, node: str) -> Pod:
    """The pod of a daemon. There is no program behind it: it says what it would be told, and waits."""
    said = "; ".join(f"echo {each}" for each in _list_orders(daemon))
    container = Container(
        name="mps-control-daemon",
        image=_IMAGE,
        command=("sh", "-c", f"{said}; exec sleep infinity"),
        env=(EnvVar(name="CUDA_VISIBLE_DEVICES", value=",".join(daemon.uuids)),),
    )
    labels = {"app.kubernetes.io/name": "mps-control-daemon", "resource.nvidia.com/claim": daemon.claim_uid}
    spec = PodSpec(
        node_name=node,
        containers=(container,),
        tolerations=(Toleration(operator="Exists"),),
        automount_service_account_token=False,
        termination_grace_period_seconds=0,
    )
    return Pod(metadata=ObjectMeta(name=daemon.name, namespace=DAEMON_NAMESPACE, labels=labels), spec=spec)


async def ensure_daemon(client: Client, clock: Clock, pod: Pod) -> None:
    """Have a daemon run, and wait until it is ready. May be repeated. Raises PrepareRefused, ApiError, Unreachable."""
    wanted = ObjectName(pod.metadata.name, DAEMON_NAMESPACE)
    pause, end, phase = _FIRST_LOOK_SECONDS, clock.monotonic() + _PATIENCE_SECONDS, "Pending"
    while clock.monotonic() < end:
        found = await _find(client, wanted)
        if found is None:
            await _create(client, pod)
            continue
        phase = str(found.status.phase)
        if _is_ready(found):
            return
        if phase == "Failed":
            await end_daemon(client, wanted.name)
        await clock.sleep(pause)
        pause = min(2 * pause, _LAST_LOOK_SECONDS)
    raise PrepareRefused(f"MPS control daemon {wanted.namespace}/{wanted.name} is not ready: {phase}")


async def end_daemon(client: Client, name: str) -> None:
    """Have a daemon go. One that is gone is a no-op. Raises ApiError, Unreachable."""
    try:
        await client.delete(POD, ObjectName(name, DAEMON_NAMESPACE))
    except NotFound:
        return


async def _find(client: Client, name: ObjectName) -> Pod | None:
    try:
        return await client.get(POD, name)
    except NotFound:
        return None


async def _create(client: Client, pod: Pod) -> None:
    try:
        await client.create(POD, pod)
    except AlreadyExists:
        return


def _is_ready(pod: Pod) -> bool:
    conditions = {each.type: each.status for each in pod.status.conditions}
    return pod.metadata.deletion_timestamp is None and conditions.get("Ready") == "True"


def _list_orders(daemon: MpsDaemon) -> list[str]:
    """What the daemon is told, in the words of its own tool."""
    config = daemon.config
    orders = ["nvidia-cuda-mps-control -d -M" if config.multi_user else "nvidia-cuda-mps-control -d"]
    if config.default_active_thread_percentage is not None:
        orders.append(f"set_default_active_thread_percentage {config.default_active_thread_percentage}")
    orders += [f"set_default_device_pinned_mem_limit {uuid} {limit}" for uuid, limit in daemon.limits.items()]
    return orders
