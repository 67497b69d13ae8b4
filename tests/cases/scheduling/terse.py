"""Objects of cases about the scheduler: written tersely, stored through the API.

    {node: a, labels: {zone: x}, taints: [...], cpu: 4, allocatable: {x.io/gpu: 2}, features: [...]}
    {devices: [gpu-0, gpu-1], at: a, driver: gpu.x.io}     or {devices: {gpu-0: {attributes: {model: big}}}, at: a}
    {class: gpu, select: 'device.driver == "gpu.x.io"', extended: x.io/gpu}
    {template: gpus, ask: 2 gpu}      {claim: shared, ask: gpu}      {claim: c, ask: [{...a request...}]}
    {claim: c, ask: gpu, held: {device: gpu-0, at: a}}      allocated already
    {pod: p, uses: {gpu: template gpus, net: claim shared}, cpu: 1, priority: 10, resources: {x.io/gpu: 1}, group: g}
    {group: g, gang: 2, uses: {gpu: template gpus}}
    {rule: r, device: gpu-0, effect: NoSchedule}
    {importance: high, value: 10, never: true}      a PriorityClass, which does not evict if it says never
    {budget: b, labels: {app: x}, allows: 0}

What an object has besides goes into `metadata`, `spec` or `status`, as in a manifest.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from dray.api.codec import Codec
from dray.api.core.kinds import NODE, POD
from dray.api.policy.kinds import POD_DISRUPTION_BUDGET
from dray.api.registry import AnyKind
from dray.api.resource.kinds import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
)
from dray.api.scheduling.kinds import POD_GROUP, PRIORITY_CLASS
from dray.client.port import Client, ObjectName

__all__ = ["KINDS", "store"]

Json = dict[str, Any]
DRIVER = "gpu.x.io"
NAMESPACE_NAME = "ml"

KINDS: Mapping[str, AnyKind] = {
    "node": NODE,
    "devices": RESOURCE_SLICE,
    "slice": RESOURCE_SLICE,
    "class": DEVICE_CLASS,
    "template": RESOURCE_CLAIM_TEMPLATE,
    "claim": RESOURCE_CLAIM,
    "pod": POD,
    "group": POD_GROUP,
    "rule": DEVICE_TAINT_RULE,
    "importance": PRIORITY_CLASS,
    "budget": POD_DISRUPTION_BUDGET,
}


async def store(client: Client, terse: Json) -> None:
    """Create an object that a case describes, or replace it."""
    sort = next(name for name in ("pod", *KINDS) if name in terse)
    kind = KINDS[sort]
    codec = Codec(kind, kind.declared_version)
    body, status = WRITERS[sort](terse)
    body = _merge(body, {part: terse[part] for part in ("metadata", "spec") if part in terse})
    meta = body["metadata"]
    if kind.is_namespaced:
        meta.setdefault("namespace", NAMESPACE_NAME)
    thing = codec.decode(msgspec.json.encode(body), strict=True)
    name = ObjectName(meta["name"], meta.get("namespace", ""))
    known = next((each for each in (await client.list(kind)).items if each.metadata.name == name.name), None)
    if known is None:
        made = await client.create(kind, thing)
    else:
        made = await client.update(kind, replace(thing, metadata=replace(known.metadata, labels=thing.metadata.labels)))
    if kind is NODE and not terse.get("tainted"):
        made = await client.update(NODE, replace(made, spec=replace(made.spec, taints=thing.spec.taints)))
    status = _merge(status, terse.get("status", {}))
    if status:
        full = msgspec.json.decode(codec.encode(made))
        full["status"] = _merge(full.get("status", {}), status)
        await client.update(kind, codec.decode(msgspec.json.encode(full)), subresource="status")


def _merge(into: Json, more: Mapping[str, Any]) -> Json:
    merged = dict(into)
    for key, value in more.items():
        merged[key] = _merge(merged[key], value) if isinstance(value, dict) and key in merged else value
    return merged


def _node(terse: Json) -> tuple[Json, Json]:
    labels = {"kubernetes.io/hostname": terse["node"], **terse.get("labels", {})}
    spec: Json = {"taints": terse.get("taints", [])}
    if terse.get("unschedulable"):
        spec["unschedulable"] = True
    room = {"cpu": str(terse.get("cpu", 8)), "memory": "32Gi", "pods": str(terse.get("pods", 110))}
    room |= {name: str(amount) for name, amount in terse.get("allocatable", {}).items()}
    status: Json = {"capacity": room, "allocatable": room, "declaredFeatures": terse.get("features", [])}
    return {"metadata": {"name": terse["node"], "labels": labels}, "spec": spec}, status


def _slice(terse: Json) -> tuple[Json, Json]:
    driver = terse.get("driver", DRIVER)
    where: Json = {"nodeName": terse["at"]} if "at" in terse else {"allNodes": True}
    pool = terse.get("pool", terse.get("at", "net"))
    devices = terse["devices"]
    listed = [
        {"name": name, **(devices[name] or {})} if isinstance(devices, dict) else {"name": name} for name in devices
    ]
    spec: Json = {"driver": driver, **where, "devices": listed}
    spec["pool"] = {"name": pool, "generation": terse.get("generation", 1), "resourceSliceCount": terse.get("of", 1)}
    return {"metadata": {"name": terse.get("slice", f"{pool}-{driver}")}, "spec": spec}, {}


def _class(terse: Json) -> tuple[Json, Json]:
    expression = terse.get("select", f'device.driver == "{DRIVER}"')
    spec: Json = {"selectors": [{"cel": {"expression": expression}}]}
    if "extended" in terse:
        spec["extendedResourceName"] = terse["extended"]
    return {"metadata": {"name": terse["class"]}, "spec": spec}, {}


def _ask(ask: Any) -> Json:
    if isinstance(ask, dict):
        return ask
    if isinstance(ask, list):
        return {"devices": {"requests": ask}}
    count, _, name = str(ask).rpartition(" ")
    exactly: Json = {"deviceClassName": name, "count": int(count or 1), "allocationMode": "ExactCount"}
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


def _template(terse: Json) -> tuple[Json, Json]:
    pattern = {"metadata": {"annotations": terse.get("annotations", {})}, "spec": _ask(terse["ask"])}
    return {"metadata": {"name": terse["template"]}, "spec": pattern}, {}


def _claim(terse: Json) -> tuple[Json, Json]:
    body: Json = {"metadata": {"name": terse["claim"]}, "spec": _ask(terse["ask"])}
    if "held" not in terse:
        return body, {}
    held = terse["held"]
    body["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    result = {"request": "r", "driver": DRIVER, "pool": held["at"], "device": held["device"]}
    field = {"key": "metadata.name", "operator": "In", "values": [held["at"]]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return body, {"allocation": {"devices": {"results": [result]}, "nodeSelector": selector}}


def _uses(terse: Json) -> list[Json]:
    found: list[Json] = []
    for entry, text in terse.get("uses", {}).items():
        sort, _, name = text.partition(" ")
        found.append({"name": entry, "resourceClaimTemplateName" if sort == "template" else "resourceClaimName": name})
    return found


def _pod(terse: Json) -> tuple[Json, Json]:
    requests = {name: str(amount) for name, amount in terse.get("resources", {}).items()}
    limits = dict(requests)
    if "cpu" in terse:
        requests["cpu"] = str(terse["cpu"])
    uses = _uses(terse)
    container: Json = {"name": "c", "image": "i", "resources": {"requests": requests, "limits": limits}}
    container["resources"]["claims"] = [{"name": each["name"]} for each in uses]
    spec: Json = {"containers": [container], "resourceClaims": uses}
    for field, name in (("node", "nodeName"), ("scheduler", "schedulerName"), ("priority_class", "priorityClassName")):
        if field in terse:
            spec[name] = terse[field]
    if "gates" in terse:
        spec["schedulingGates"] = [{"name": name} for name in terse["gates"]]
    if "group" in terse:
        spec["schedulingGroup"] = {"podGroupName": terse["group"]}
    meta = {"name": terse["pod"], "labels": terse.get("labels", {}), "annotations": terse.get("annotations", {})}
    return {"metadata": meta, "spec": spec}, {}


def _group(terse: Json) -> tuple[Json, Json]:
    policy: Json = {"gang": {"minCount": terse["gang"]}} if "gang" in terse else {"basic": {}}
    return {
        "metadata": {"name": terse["group"]},
        "spec": {"schedulingPolicy": policy, "resourceClaims": _uses(terse)},
    }, {}


def _rule(terse: Json) -> tuple[Json, Json]:
    taint = {"key": terse.get("key", "x.io/broken"), "effect": terse["effect"]}
    selector = {name: terse[name] for name in ("driver", "pool", "device") if name in terse}
    return {"metadata": {"name": terse["rule"]}, "spec": {"taint": taint, "deviceSelector": selector}}, {}


def _importance(terse: Json) -> tuple[Json, Json]:
    policy = {"preemptionPolicy": "Never"} if terse.get("never") else {}
    return {"metadata": {"name": terse["importance"]}, "value": terse["value"], **policy}, {}


def _budget(terse: Json) -> tuple[Json, Json]:
    spec = {"minAvailable": 0, "selector": {"matchLabels": terse["labels"]}}
    status = {"disruptionsAllowed": terse["allows"], "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    return {"metadata": {"name": terse["budget"]}, "spec": spec}, status


WRITERS = {
    "node": _node,
    "devices": _slice,
    "slice": _slice,
    "class": _class,
    "template": _template,
    "claim": _claim,
    "pod": _pod,
    "group": _group,
    "rule": _rule,
    "importance": _importance,
    "budget": _budget,
}
