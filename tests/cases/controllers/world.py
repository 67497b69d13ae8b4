"""Objects of cases about controllers: written tersely, shown tersely.

    {pod: p, uses: {gpu: template gpus, net: claim shared}, made: {gpu: p-gpu-1}, node: n, phase: Running, group: g}
    {claim: c, of: pod p, entry: gpu, devices: [gpu-0], reserved: [pod p, group g], protected: true, deleting: true}
    {template: gpus, namespace: other, admin: true}
    {group: g, uses: {gpu: template gpus}, made: {gpu: g-gpu-1}, protected: true}

Uids are the name with `-uid` unless `uid` says otherwise. A claim shows as `allocated`, `reserved for …`, `protected`,
`deleting`, or as `idle` if it is none of these.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from dray.api.core.containers import Container
from dray.api.core.kinds import NAMESPACE, POD
from dray.api.core.namespace import Namespace
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim, PodSchedulingGroup, PodSpec
from dray.api.core.podstatus import (
    ContainerExtendedResourceRequest,
    PodExtendedResourceClaimStatus,
    PodResourceClaimStatus,
    PodStatus,
)
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.claimtemplate import ResourceClaimTemplate, ResourceClaimTemplateSpec
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dray.api.resource.podclaims import EXTENDED_RESOURCE_ANNOTATION, FINALIZER, POD_CLAIM_ANNOTATION, find_controller
from dray.api.resource.request import DeviceRequest, ExactDeviceRequest
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

__all__ = ["put", "show_claims", "show_names"]

Json = Mapping[str, Any]
NOW = Time(1_767_225_600)


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
            node_name=terse.get("node", ""),
            resource_claims=tuple(PodResourceClaim(name=name, **_source(text)) for name, text in uses.items()),
            scheduling_group=PodSchedulingGroup(pod_group_name=terse["group"]) if "group" in terse else None,
        ),
        status=PodStatus(
            phase=terse.get("phase", "Pending"),
            resource_claim_statuses=tuple(
                PodResourceClaimStatus(name=entry, resource_claim_name=name) for entry, name in made.items()
            ),
            extended_resource_claim_status=extended,
        ),
    )
    cluster.put(POD, pod)


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
    cluster.put(POD_GROUP, group)


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
        DeviceRequestAllocationResult(request="r", driver="gpu.x.io", pool="n", device=device)
        for device in terse.get("devices", ())
    )
    allocation = AllocationResult(devices=DeviceAllocationResult(results=results)) if results else None
    reserved = tuple(_consumer(text) for text in terse.get("reserved", ()))
    status = ResourceClaimStatus(allocation=allocation, reserved_for=reserved)
    claim = RESOURCE_CLAIM.default(ResourceClaim(metadata=meta, spec=_spec(terse)), NOW)
    cluster.put(RESOURCE_CLAIM, replace(claim, status=status))


WRITERS: dict[str, Callable[[Cluster, Json], None]] = {
    "pod": _put_pod,
    "claim": _put_claim,
    "template": _put_template,
    "group": _put_group,
}
"""By what names the object. A pod may also have a group, so it comes first."""


def show_claims(cluster: Cluster) -> dict[str, str]:
    """Every claim, by its name, or by owner and entry if the name is made up."""
    shown: dict[str, str] = {}
    for name in cluster.names(RESOURCE_CLAIM):
        claim = cluster.find(RESOURCE_CLAIM, name)
        assert claim is not None
        shown[_label(claim)] = _describe(claim)
    return shown


def _label(claim: ResourceClaim) -> str:
    owner = find_controller(claim.metadata)
    if owner is None or not claim.metadata.generate_name:
        return claim.metadata.name
    return f"{owner.name}/{claim.metadata.annotations[POD_CLAIM_ANNOTATION]}"


def _describe(claim: ResourceClaim) -> str:
    words = ["allocated"] if claim.status.allocation is not None else []
    if claim.status.reserved_for:
        words.append(f"reserved for {' '.join(each.name for each in claim.status.reserved_for)}")
    if FINALIZER in claim.metadata.finalizers:
        words.append("protected")
    if claim.metadata.deletion_timestamp is not None:
        words.append("deleting")
    return ", ".join(words) or "idle"


def show_names(cluster: Cluster) -> dict[str, dict[str, str | None]]:
    """What pods and groups say of their claims, as `show_claims` names them."""
    shown: dict[str, dict[str, str | None]] = {}
    pods = {name: cluster.find(POD, name) for name in cluster.names(POD)}
    groups = {name: cluster.find(POD_GROUP, name) for name in cluster.names(POD_GROUP)}
    for name, thing in (*pods.items(), *groups.items()):
        statuses = thing.status.resource_claim_statuses if thing is not None else ()
        if statuses:
            shown[name] = {each.name: _find_label(cluster, each.resource_claim_name) for each in statuses}
    return shown


def _find_label(cluster: Cluster, name: str | None) -> str | None:
    claim = cluster.find(RESOURCE_CLAIM, name) if name is not None else None
    return _label(claim) if claim is not None else name
