"""What happens in cases about the scheduler, a step at a time.

{put: OBJECT} or {put: [OBJECT, ...]}      as `terse.py` says
{delete: pod p}      {finish: p}      {patch: claim c, with: {...}}
{fail: {create bindings: 2}}      requests that fail, by verb and kind     {miss: ...}      whose answers are lost
{wait: seconds}      {restart: true}      the scheduler and the controllers begin anew
{left: p}      the claim for extended resources of a pod, as a scheduler that ended leaves it
"""

import json
from typing import Any

from dray.api.core.kinds import POD
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.podclaims import EXTENDED_RESOURCE_ANNOTATION, FINALIZER
from dray.api.resource.request import DeviceRequest, ExactDeviceRequest
from dray.client.port import ObjectName, Patch, PatchType, Unreachable
from dray.errors import Conflict
from tests.cases.scheduling.terse import KINDS, NAMESPACE_NAME, store
from tests.unit.controllers.cluster import Call
from tests.unit.scheduler.rig import Rig

__all__ = ["Wire", "take_step"]

Json = dict[str, Any]


class Wire:
    """Lets some requests fail."""

    def __init__(self) -> None:
        self.failures: dict[str, int] = {}
        self.losses: dict[str, int] = {}

    def begin(self, call: Call) -> None:
        """A request is about to be made."""
        if _comes(self.failures, call):
            raise Conflict("a lost race")

    def end(self, call: Call) -> None:
        """A request is about to be answered."""
        if _comes(self.losses, call):
            raise Unreachable("the connection broke off")


def _comes(counts: dict[str, int], call: Call) -> bool:
    text = f"{call.verb} {call.kind.plural}"
    if counts.get(text, 0) == 0:
        return False
    counts[text] -= 1
    return True


async def take_step(rig: Rig, wire: Wire, action: Json) -> None:
    """Let one thing happen, and everybody come to rest."""
    match action:
        case {"put": list(several)}:
            for terse in several:
                await store(rig.client, terse)
        case {"put": terse}:
            await store(rig.client, terse)
        case {"delete": text}:
            sort, _, name = text.partition(" ")
            kind = KINDS[sort]
            await rig.client.delete(kind, ObjectName(name, NAMESPACE_NAME if kind.is_namespaced else ""))
        case {"finish": name}:
            patch = Patch(PatchType.MERGE, b'{"status": {"phase": "Succeeded"}}')
            await rig.client.patch(POD, ObjectName(name, NAMESPACE_NAME), patch, subresource="status")
        case {"fail": _} | {"miss": _}:
            wire.failures, wire.losses = dict(action.get("fail", {})), dict(action.get("miss", {}))
        case {"patch": text, "with": body}:
            sort, _, name = text.partition(" ")
            patch = Patch(PatchType.MERGE, json.dumps(body).encode())
            subresource = "status" if "status" in body else ""
            kind = KINDS[sort]
            namespace = NAMESPACE_NAME if kind.is_namespaced else ""
            await rig.client.patch(kind, ObjectName(name, namespace), patch, subresource=subresource)
        case _:
            await _pass(rig, action)
    await rig.settle()


async def _pass(rig: Rig, action: Json) -> None:
    """What nobody does: time, and the end of processes."""
    match action:
        case {"wait": seconds}:
            await rig.pass_time(seconds)
        case {"left": name}:
            await _leave_claim(rig, name)
        case {"restart": _}:
            await rig.stop()
            rig.start()
        case _:
            raise AssertionError(f"no such step: {action}")


async def _leave_claim(rig: Rig, name: str) -> None:
    """Store the claim for extended resources that a scheduler which ended left behind."""
    pod = await rig.client.get(POD, ObjectName(name, NAMESPACE_NAME))
    owner = OwnerReference(api_version="v1", kind="Pod", name=name, uid=pod.metadata.uid, controller=True)
    meta = ObjectMeta(
        generate_name=f"{name}-extended-resources-",
        namespace=NAMESPACE_NAME,
        annotations={EXTENDED_RESOURCE_ANNOTATION: "true"},
        owner_references=(owner,),
        finalizers=(FINALIZER,),
    )
    exactly = ExactDeviceRequest(device_class_name="gpu", allocation_mode="ExactCount", count=1)
    devices = DeviceClaim(requests=(DeviceRequest(name="container-0-request-0", exactly=exactly),))
    await rig.client.create(RESOURCE_CLAIM, ResourceClaim(metadata=meta, spec=ResourceClaimSpec(devices=devices)))
