"""Objects of cases about controllers: written tersely, shown tersely.

    {pod: p, uses: {gpu: template gpus, net: claim shared}, made: {gpu: p-gpu-1}, node: n, phase: Running, group: g}
    {claim: c, of: pod p, entry: gpu, devices: [gpu-0], reserved: [pod p, group g], protected: true, deleting: true}
    {template: gpus, namespace: other, admin: true}
    {group: g, uses: {gpu: template gpus}, made: {gpu: g-gpu-1}, protected: true}

    {slice: s, pool: n, generation: 2, devices: {gpu-0: [NoExecute broken -60], gpu-1: []}}
    {rule: r, device: gpu-0, effect: NoExecute, at: -60, generation: 1}
    {question: q, driver: gpu.x.io, limit: 2, asked: -60}
    {node: n, ready: false, at: 10, taints: [NoExecute example.com/broken], unschedulable: true}
    {lease: n, at: 10}

Uids are the name with `-uid` unless `uid` says otherwise. Times are seconds from the start of a case.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from dray.api.coordination.kinds import LEASE
from dray.api.coordination.lease import Lease, LeaseSpec
from dray.api.core.containers import Container
from dray.api.core.kinds import NAMESPACE, NODE, POD
from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.nodespec import NodeSpec
from dray.api.core.nodestatus import NodeCondition, NodeStatus
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim, PodSchedulingGroup, PodSpec
from dray.api.core.podstatus import (
    ContainerExtendedResourceRequest,
    PodCondition,
    PodExtendedResourceClaimStatus,
    PodResourceClaimStatus,
    PodStatus,
)
from dray.api.core.taints import Taint, Toleration
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.registry import AnyKind
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.claimtemplate import ResourceClaimTemplate, ResourceClaimTemplateSpec
from dray.api.resource.device import Device, DeviceTaint
from dray.api.resource.kinds import (
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.api.resource.podclaims import EXTENDED_RESOURCE_ANNOTATION, FINALIZER, POD_CLAIM_ANNOTATION
from dray.api.resource.poolstatus import ResourcePoolStatusRequest, ResourcePoolStatusRequestSpec
from dray.api.resource.request import DeviceRequest, DeviceToleration, ExactDeviceRequest
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.api.resource.taintrule import DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector
from dray.api.scheduling.kinds import POD_GROUP, POD_GROUP_FINALIZER
from dray.api.scheduling.podgroup import (
    BasicSchedulingPolicy,
    PodGroup,
    PodGroupResourceClaim,
    PodGroupResourceClaimStatus,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    PodGroupStatus,
)
from dray.values.times import Time
from tests.unit.controllers.cluster import Cluster

__all__ = ["KINDS", "put"]

Json = Mapping[str, Any]
NOW = Time(1_767_225_600)
DRIVER = "gpu.x.io"


def put(cluster: Cluster, terse: Json) -> None:
    """Store what a case describes."""
    kind = next(name for name in WRITERS if name in terse)
    namespace = terse.get("namespace", "ml")
    if cluster.find(NAMESPACE, namespace) is None:
        cluster.put(NAMESPACE, NAMESPACE.prepare_create(Namespace(metadata=ObjectMeta(name=namespace))))
    WRITERS[kind](cluster, terse)


def _meta(name: str, terse: Json, finalizers: Iterable[str] = ()) -> ObjectMeta:
    return ObjectMeta(
        name=name,
        namespace=terse.get("namespace", "ml"),
        uid=terse.get("uid", f"{name}-uid"),
        creation_timestamp=NOW,
        deletion_timestamp=NOW if terse.get("deleting") else None,
        deletion_grace_period_seconds=30 if terse.get("deleting") else None,
        finalizers=(*finalizers, *terse.get("finalizers", ())),
        labels=terse.get("labels", {}),
    )


def _source(text: str) -> dict[str, str]:
    """`template gpus`, `claim shared`."""
    sort, _, name = text.partition(" ")
    return {"resource_claim_template_name" if sort == "template" else "resource_claim_name": name}


def _put_pod(cluster: Cluster, terse: Json) -> None:
    extended = None
    if "extended" in terse:
        mapping = ContainerExtendedResourceRequest(container_name="c", resource_name="x.io/gpu", request_name="r")
        extended = PodExtendedResourceClaimStatus(resource_claim_name=terse["extended"], request_mappings=(mapping,))
    uses, made = terse.get("uses", {}), terse.get("made", {})
    pod = Pod(
        metadata=_meta(terse["pod"], terse),
        spec=PodSpec(
            containers=(Container(name="c", image="i"),),
            termination_grace_period_seconds=30,
            node_name=terse.get("node", ""),
            resource_claims=tuple(PodResourceClaim(name=name, **_source(text)) for name, text in uses.items()),
            tolerations=tuple(_node_toleration(text) for text in terse.get("tolerates", ())),
            scheduling_group=PodSchedulingGroup(pod_group_name=terse["group"]) if "group" in terse else None,
        ),
        status=PodStatus(
            phase=terse.get("phase", "Pending"),
            conditions=(PodCondition(type="Ready", status="True"),) if terse.get("ready") else (),
            resource_claim_statuses=tuple(
                PodResourceClaimStatus(name=entry, resource_claim_name=name) for entry, name in made.items()
            ),
            extended_resource_claim_status=extended,
        ),
    )
    cluster.put(POD, pod)


def _node_toleration(text: str) -> Toleration:
    """`key 300`, `key`: for so long, for ever."""
    key, *seconds = str(text).split()
    return Toleration(
        key=key, operator="Exists", effect="NoExecute", toleration_seconds=int(seconds[0]) if seconds else None
    )


def _put_group(cluster: Cluster, terse: Json) -> None:
    uses, made = terse.get("uses", {}), terse.get("made", {})
    group = PodGroup(
        metadata=_meta(terse["group"], terse, (POD_GROUP_FINALIZER,) if terse.get("protected") else ()),
        spec=PodGroupSpec(
            scheduling_policy=PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy()),
            resource_claims=tuple(PodGroupResourceClaim(name=name, **_source(text)) for name, text in uses.items()),
        ),
        status=PodGroupStatus(
            resource_claim_statuses=tuple(
                PodGroupResourceClaimStatus(name=entry, resource_claim_name=name) for entry, name in made.items()
            )
        ),
    )
    cluster.put(POD_GROUP, POD_GROUP.default(group, NOW))


def _spec(terse: Json) -> ResourceClaimSpec:
    exactly = ExactDeviceRequest(device_class_name="gpu", admin_access=terse.get("admin"))
    return ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="r", exactly=exactly),)))


def _put_template(cluster: Cluster, terse: Json) -> None:
    pattern = ObjectMeta(labels=terse.get("gives_labels", {}), annotations=terse.get("gives_annotations", {}))
    spec = ResourceClaimTemplateSpec(metadata=pattern, spec=_spec(terse))
    cluster.put(RESOURCE_CLAIM_TEMPLATE, ResourceClaimTemplate(metadata=_meta(terse["template"], terse), spec=spec))


def _owners(text: str) -> tuple[OwnerReference, ...]:
    """`pod p`, `pod p some-uid`, `group g`."""
    if not text:
        return ()
    sort, name, *uid = text.split()
    kind = POD if sort == "pod" else POD_GROUP
    version = kind.api_version(kind.declared_version)
    uid_text = uid[0] if uid else f"{name}-uid"
    return (OwnerReference(api_version=version, kind=kind.name, name=name, uid=uid_text, controller=True),)


def _consumer(text: str) -> ResourceClaimConsumerReference:
    """`pod p`, `pod p some-uid`, `group g`, `thing x`."""
    sort, name, *uid = text.split()
    group, resource = {"pod": ("", "pods"), "group": (POD_GROUP.group, "podgroups")}.get(sort, ("x.io", "things"))
    return ResourceClaimConsumerReference(
        api_group=group, resource=resource, name=name, uid=uid[0] if uid else f"{name}-uid"
    )


def _put_claim(cluster: Cluster, terse: Json) -> None:
    meta = _meta(terse["claim"], terse, (FINALIZER,) if terse.get("protected") else ())
    annotations = {POD_CLAIM_ANNOTATION: terse["entry"]} if "entry" in terse else {}
    if terse.get("extended"):
        annotations = {EXTENDED_RESOURCE_ANNOTATION: "true"}
    meta = ObjectMeta(
        **{name: getattr(meta, name) for name in ("name", "namespace", "uid", "creation_timestamp", "finalizers")},
        deletion_timestamp=meta.deletion_timestamp,
        annotations=annotations,
        owner_references=_owners(terse.get("of", "")),
    )
    results = tuple(
        DeviceRequestAllocationResult(
            request="r", driver=DRIVER, pool=terse.get("pool", "n"), device=device, tolerations=_tolerations(terse)
        )
        for device in terse.get("devices", ())
    )
    allocation = AllocationResult(devices=DeviceAllocationResult(results=results)) if results else None
    reserved = tuple(_consumer(text) for text in terse.get("reserved", ()))
    status = ResourceClaimStatus(allocation=allocation, reserved_for=reserved)
    claim = RESOURCE_CLAIM.default(ResourceClaim(metadata=meta, spec=_spec(terse)), NOW)
    cluster.put(RESOURCE_CLAIM, replace(claim, status=status))


def _tolerations(terse: Json) -> tuple[DeviceToleration, ...]:
    """`broken 30` tolerates a key for so long, `broken` for ever, `*` everything; a third word is the effect."""
    made: list[DeviceToleration] = []
    for text in terse.get("tolerates", ()):
        key, seconds, effect = (*str(text).split(), "", "")[:3]
        made.append(
            DeviceToleration(
                key="" if key == "*" else key,
                operator="Exists",
                effect=effect if effect != "any" else "",
                toleration_seconds=int(seconds) if seconds not in ("", "-") else None,
            )
        )
    return tuple(replace(each, effect=each.effect or "NoExecute") for each in made)


def _taint(text: str) -> DeviceTaint:
    """`NoExecute broken -60`: effect, key, when it was added."""
    effect, key, *at = text.split()
    return DeviceTaint(key=key, effect=effect, time_added=NOW.plus_seconds(int(at[0]) if at else 0))


def _put_slice(cluster: Cluster, terse: Json) -> None:
    devices = tuple(
        Device(name=name, taints=tuple(_taint(text) for text in taints)) for name, taints in terse["devices"].items()
    )
    pool = ResourcePool(
        name=terse.get("pool", "n"),
        generation=terse.get("generation", 1),
        resource_slice_count=terse.get("of", 1),
    )
    spec = ResourceSliceSpec(driver=terse.get("driver", DRIVER), pool=pool, node_name="n", devices=devices)
    cluster.put(RESOURCE_SLICE, ResourceSlice(metadata=_meta(terse["slice"], terse), spec=spec))


def _put_rule(cluster: Cluster, terse: Json) -> None:
    criteria = {name: terse[name] for name in ("driver", "pool", "device") if name in terse}
    selector = None if terse.get("selects") == "none" else DeviceTaintSelector(**criteria)
    taint = _taint(f"{terse['effect']} broken {terse.get('at', 0)}")
    old = cluster.find(DEVICE_TAINT_RULE, terse["rule"])
    rule = DeviceTaintRule(
        metadata=replace(_meta(terse["rule"], terse), generation=terse.get("generation", 1)),
        spec=DeviceTaintRuleSpec(device_selector=selector, taint=taint),
    )
    cluster.put(DEVICE_TAINT_RULE, rule if old is None else replace(rule, status=old.status))


def _put_question(cluster: Cluster, terse: Json) -> None:
    spec = ResourcePoolStatusRequestSpec(driver=terse.get("driver", DRIVER), limit=terse.get("limit"))
    meta = _meta(terse["question"], terse)
    meta = replace(meta, creation_timestamp=NOW.plus_seconds(terse.get("asked", 0)))
    cluster.put(RESOURCE_POOL_STATUS_REQUEST, ResourcePoolStatusRequest(metadata=meta, spec=spec))


def _put_node(cluster: Cluster, terse: Json) -> None:
    since = NOW.plus_seconds(terse.get("at", 0))
    ready = NodeCondition(
        type="Ready", status=str(terse.get("ready", True)), last_heartbeat_time=since, last_transition_time=since
    )
    spec = NodeSpec(
        unschedulable=terse.get("unschedulable", False),
        taints=tuple(_node_taint(text) for text in terse.get("taints", ())),
    )
    conditions = (ready,) if terse.get("ready", True) is not None else ()
    meta = replace(_meta(terse["node"], terse), namespace="")
    cluster.put(NODE, Node(metadata=meta, spec=spec, status=NodeStatus(conditions=conditions)))


def _node_taint(text: str) -> Taint:
    """`NoExecute example.com/broken`: effect, key."""
    effect, key = text.split()
    return Taint(key=key, effect=effect)


def _put_lease(cluster: Cluster, terse: Json) -> None:
    name, renewed = terse["lease"], NOW.plus_seconds(terse.get("at", 0)).to_micro_time()
    if cluster.find(NAMESPACE, "kube-node-lease") is None:
        cluster.put(NAMESPACE, Namespace(metadata=ObjectMeta(name="kube-node-lease")))
    cluster.put(
        LEASE,
        Lease(
            metadata=ObjectMeta(name=name, namespace="kube-node-lease"),
            spec=LeaseSpec(holder_identity=name, lease_duration_seconds=40, renew_time=renewed),
        ),
    )


WRITERS: dict[str, Callable[[Cluster, Json], None]] = {
    "pod": _put_pod,
    "claim": _put_claim,
    "template": _put_template,
    "group": _put_group,
    "slice": _put_slice,
    "rule": _put_rule,
    "question": _put_question,
    "lease": _put_lease,
    "node": _put_node,
}
"""By what names the object. A pod may also have a group and a node, so it comes first."""
KINDS: dict[str, AnyKind] = {
    "pod": POD,
    "claim": RESOURCE_CLAIM,
    "template": RESOURCE_CLAIM_TEMPLATE,
    "group": POD_GROUP,
    "slice": RESOURCE_SLICE,
    "rule": DEVICE_TAINT_RULE,
    "question": RESOURCE_POOL_STATUS_REQUEST,
    "node": NODE,
}
