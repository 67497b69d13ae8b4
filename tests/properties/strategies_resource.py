"""Strategies for the objects of `resource.k8s.io`.

They draw what can stand in the types, not only what checks accept: names come from a small set, so that references hit
and miss, and lists stay short. Text round trips by itself, so it is drawn plainly.
"""

from typing import TypeVar

from hypothesis import strategies as st
from msgspec import Raw

from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.meta import Condition, ObjectMeta
from dray.api.resource.allocation import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    NetworkDeviceData,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from dray.api.resource.claim import (
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceConstraint,
    ResourceClaim,
    ResourceClaimSpec,
)
from dray.api.resource.claimtemplate import ResourceClaimTemplate, ResourceClaimTemplateSpec
from dray.api.resource.device import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    DeviceTaint,
    NodeAllocatableMapping,
    NodeAllocatableOverhead,
    NodeAllocatableResource,
)
from dray.api.resource.deviceclass import DeviceClass, DeviceClassConfiguration, DeviceClassSpec
from dray.api.resource.poolstatus import (
    PoolStatus,
    ResourcePoolStatusRequest,
    ResourcePoolStatusRequestSpec,
    ResourcePoolStatusRequestStatus,
)
from dray.api.resource.request import (
    CapacityRequirements,
    CELDeviceSelector,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    OpaqueDeviceConfiguration,
)
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.api.resource.taintrule import (
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintRuleStatus,
    DeviceTaintSelector,
)
from dray.values.quantity import parse_quantity
from dray.values.times import Time

__all__ = [
    "claim_statuses",
    "claim_templates",
    "claims",
    "device_classes",
    "devices",
    "pool_status_requests",
    "requests",
    "slices",
    "taint_rules",
]

T = TypeVar("T")

NAMES = st.sampled_from(["a", "b", "c0", "gpu", "nic"])
DRIVERS = st.sampled_from(["gpu.example.com", "nic.example.com"])
POOLS = st.sampled_from(["node-1", "node-2", "rack/row"])
QUALIFIED_NAMES = st.sampled_from(["model", "memory", "gpu.example.com/numa", "resource.kubernetes.io/pcieRoot"])
EXPRESSIONS = st.sampled_from(["true", 'device.driver == "gpu.example.com"', "é → 日本"])
REFERENCES = st.sampled_from(["a", "gpu", "gpu/a"])
UUIDS = st.sampled_from(["8d7b1f04-58b5-4b7a-a1e5-0f2b9cf8a001", "8d7b1f04-58b5-4b7a-a1e5-0f2b9cf8a002"])
QUANTITIES = st.sampled_from(["0", "1", "80Gi", "1500m", "1e3", "-2", "0.5Gi"]).map(parse_quantity)
TIMES = st.integers(0, 4_000_000_000).map(Time)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(-1, 3)
# Written the way the codec writes JSON, so that objects can be compared with `==`.
RAW_OBJECTS = st.sampled_from([b"{}", b'{"a":1}', b'{"kind":"C","list":[null,{}]}']).map(Raw)


def _few(items: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(items, max_size=2).map(tuple)


def _maybe(values: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | values


def _by_name(names: st.SearchStrategy[str], values: st.SearchStrategy[T]) -> st.SearchStrategy[dict[str, T]]:
    return st.dictionaries(names, values, max_size=2)


def _object_meta(*, namespaced: bool) -> st.SearchStrategy[ObjectMeta]:
    return st.builds(
        ObjectMeta,
        name=NAMES,
        namespace=st.just("default" if namespaced else ""),
        labels=_by_name(NAMES, st.text(max_size=3)),
        generation=st.integers(0, 5),
        creation_timestamp=_maybe(TIMES),
        deletion_timestamp=_maybe(TIMES),
    )


conditions = st.builds(
    Condition,
    type=st.sampled_from(["Ready", "Complete", "Failed", "EvictionInProgress"]),
    status=st.sampled_from(["True", "False", "Unknown"]),
    last_transition_time=_maybe(TIMES),
    reason=st.just("Because"),
    message=st.text(max_size=5),
)
_node_requirements = st.builds(
    NodeSelectorRequirement,
    key=st.just("metadata.name"),
    operator=st.sampled_from(["In", "Exists", "Odd"]),
    values=_few(NAMES),
)
node_selectors = st.builds(
    NodeSelector,
    node_selector_terms=_few(
        st.builds(NodeSelectorTerm, match_expressions=_few(_node_requirements), match_fields=_few(_node_requirements))
    ),
)
_opaque = st.builds(OpaqueDeviceConfiguration, driver=DRIVERS, parameters=RAW_OBJECTS)
_selectors = st.builds(DeviceSelector, cel=_maybe(st.builds(CELDeviceSelector, expression=EXPRESSIONS)))
tolerations = st.builds(
    DeviceToleration,
    key=st.sampled_from(["", "example.com/broken"]),
    operator=st.sampled_from(["", "Equal", "Exists"]),
    value=st.sampled_from(["", "yes"]),
    effect=st.sampled_from(["", "NoSchedule", "NoExecute"]),
    toleration_seconds=_maybe(INTEGERS),
)
_capacity_requirements = st.builds(CapacityRequirements, requests=_by_name(QUALIFIED_NAMES, QUANTITIES))
_derived = st.builds(DeviceDerivedAttribute, name=QUALIFIED_NAMES, expression=EXPRESSIONS)
_demand = {
    "device_class_name": st.sampled_from(["", "gpu.example.com"]),
    "selectors": _few(_selectors),
    "allocation_mode": st.sampled_from(["", "ExactCount", "All", "Some"]),
    "count": COUNTS,
    "tolerations": _few(tolerations),
    "capacity": _maybe(_capacity_requirements),
    "derived_attributes": _few(_derived),
}
exact_requests = st.builds(ExactDeviceRequest, admin_access=_maybe(st.booleans()), **_demand)
requests = st.builds(
    DeviceRequest,
    name=NAMES,
    exactly=_maybe(exact_requests),
    first_available=_few(st.builds(DeviceSubRequest, name=NAMES, **_demand)),
)
_claim_specs = st.builds(
    ResourceClaimSpec,
    devices=st.builds(
        DeviceClaim,
        requests=_maybe(_few(requests)),
        constraints=_few(
            st.builds(
                DeviceConstraint,
                requests=_few(REFERENCES),
                match_attribute=_maybe(QUALIFIED_NAMES),
                distinct_attribute=_maybe(QUALIFIED_NAMES),
            )
        ),
        config=_few(st.builds(DeviceClaimConfiguration, requests=_few(REFERENCES), opaque=_maybe(_opaque))),
    ),
)
_device_ids = {"driver": DRIVERS, "pool": POOLS, "device": NAMES, "share_id": _maybe(UUIDS)}
_results = st.builds(
    DeviceRequestAllocationResult,
    request=REFERENCES,
    admin_access=_maybe(st.booleans()),
    tolerations=_few(tolerations),
    binding_conditions=_few(QUALIFIED_NAMES),
    binding_failure_conditions=_few(QUALIFIED_NAMES),
    consumed_capacity=_by_name(QUALIFIED_NAMES, QUANTITIES),
    skip_node_operations=_few(st.sampled_from(["*", "NodePrepareResources"])),
    **_device_ids,
)
allocations = st.builds(
    AllocationResult,
    devices=st.builds(
        DeviceAllocationResult,
        results=_few(_results),
        config=_few(
            st.builds(
                DeviceAllocationConfiguration,
                source=st.sampled_from(["FromClass", "FromClaim"]),
                requests=_few(REFERENCES),
                opaque=_maybe(_opaque),
            )
        ),
    ),
    node_selector=_maybe(node_selectors),
    allocation_timestamp=_maybe(TIMES),
)
claim_statuses = st.builds(
    ResourceClaimStatus,
    allocation=_maybe(allocations),
    reserved_for=_few(
        st.builds(ResourceClaimConsumerReference, resource=st.just("pods"), name=NAMES, uid=UUIDS),
    ),
    devices=_few(
        st.builds(
            AllocatedDeviceStatus,
            conditions=_maybe(_few(conditions)),
            data=st.just(AllocatedDeviceStatus().data) | RAW_OBJECTS,
            network_data=_maybe(st.builds(NetworkDeviceData, interface_name=NAMES, ips=_few(st.just("192.0.2.5/24")))),
            **_device_ids,
        )
    ),
)


def _kind(name: str) -> dict[str, st.SearchStrategy[str]]:
    return {"kind": st.just(name), "api_version": st.just("resource.k8s.io/v1")}


claims = st.builds(
    ResourceClaim,
    metadata=_object_meta(namespaced=True),
    spec=_claim_specs,
    status=claim_statuses,
    **_kind("ResourceClaim"),
)
claim_templates = st.builds(
    ResourceClaimTemplate,
    metadata=_object_meta(namespaced=True),
    spec=st.builds(
        ResourceClaimTemplateSpec,
        metadata=st.builds(ObjectMeta, labels=_by_name(NAMES, NAMES)),
        spec=_claim_specs,
    ),
    **_kind("ResourceClaimTemplate"),
)
device_classes = st.builds(
    DeviceClass,
    metadata=_object_meta(namespaced=False),
    spec=st.builds(
        DeviceClassSpec,
        selectors=_few(_selectors),
        config=_few(st.builds(DeviceClassConfiguration, opaque=_maybe(_opaque))),
        extended_resource_name=_maybe(st.just("example.com/gpu")),
    ),
    **_kind("DeviceClass"),
)

_attributes = st.one_of(
    st.builds(DeviceAttribute, int=INTEGERS),
    st.builds(DeviceAttribute, bool=st.booleans()),
    st.builds(DeviceAttribute, string=st.text(max_size=5)),
    st.builds(DeviceAttribute, version=st.sampled_from(["1.0.0", "2.3.4-rc.1"])),
    st.builds(DeviceAttribute, ints=_few(INTEGERS)),
    st.builds(DeviceAttribute, bools=_few(st.booleans())),
    st.builds(DeviceAttribute, strings=_few(st.text(max_size=5))),
    st.builds(DeviceAttribute, versions=_few(st.just("1.0.0"))),
)
_request_policies = st.builds(
    CapacityRequestPolicy,
    default=_maybe(QUANTITIES),
    valid_values=_few(QUANTITIES),
    valid_range=_maybe(
        st.builds(CapacityRequestPolicyRange, min=_maybe(QUANTITIES), max=_maybe(QUANTITIES), step=_maybe(QUANTITIES))
    ),
)
_counters = _by_name(NAMES, st.builds(Counter, value=QUANTITIES))
taints = st.builds(
    DeviceTaint,
    key=st.just("example.com/broken"),
    value=st.sampled_from(["", "yes"]),
    effect=st.sampled_from(["None", "NoSchedule", "NoExecute", "Unheard"]),
    time_added=_maybe(TIMES),
)
_node_allocatable = st.builds(
    NodeAllocatableResource,
    mapping=_maybe(
        st.builds(
            NodeAllocatableMapping,
            capacity_key=_maybe(QUALIFIED_NAMES),
            capacity_multiplier=_maybe(QUANTITIES),
            device_multiplier=_maybe(QUANTITIES),
        )
    ),
    overhead=_maybe(st.builds(NodeAllocatableOverhead, per_pod=_maybe(QUANTITIES), per_container=_maybe(QUANTITIES))),
)
devices = st.builds(
    Device,
    name=NAMES,
    attributes=_by_name(QUALIFIED_NAMES, _attributes),
    capacity=_by_name(
        QUALIFIED_NAMES, st.builds(DeviceCapacity, value=QUANTITIES, request_policy=_maybe(_request_policies))
    ),
    consumes_counters=_few(
        st.builds(DeviceCounterConsumption, counter_set=NAMES, counters=_counters, compatibility_groups=_few(NAMES))
    ),
    node_name=_maybe(NAMES),
    node_selector=_maybe(node_selectors),
    all_nodes=_maybe(st.booleans()),
    taints=_few(taints),
    binds_to_node=_maybe(st.booleans()),
    binding_conditions=_few(QUALIFIED_NAMES),
    binding_failure_conditions=_few(QUALIFIED_NAMES),
    allow_multiple_allocations=_maybe(st.booleans()),
    node_allocatable_resources=_by_name(st.sampled_from(["cpu", "memory"]), _node_allocatable),
)
_counter_sets = st.builds(CounterSet, name=NAMES, counters=_counters)
# The two ways in which v1beta1 cannot tell a value from none are left out: `nodeName: ""` and `allNodes: false`.
slices = st.builds(
    ResourceSlice,
    metadata=_object_meta(namespaced=False),
    spec=st.builds(
        ResourceSliceSpec,
        driver=DRIVERS,
        pool=st.builds(ResourcePool, name=POOLS, generation=INTEGERS, resource_slice_count=INTEGERS),
        node_name=_maybe(NAMES),
        node_selector=_maybe(node_selectors),
        all_nodes=_maybe(st.just(value=True)),
        devices=_maybe(_few(devices)),
        per_device_node_selection=_maybe(st.booleans()),
        shared_counters=_maybe(_few(_counter_sets)),
        partition_type_attribute=_maybe(QUALIFIED_NAMES),
        skip_node_operations=_few(st.sampled_from(["*", "NodePrepareResources"])),
    ),
    **_kind("ResourceSlice"),
)
taint_rules = st.builds(
    DeviceTaintRule,
    metadata=_object_meta(namespaced=False),
    spec=st.builds(
        DeviceTaintRuleSpec,
        device_selector=_maybe(
            st.builds(DeviceTaintSelector, driver=_maybe(DRIVERS), pool=_maybe(POOLS), device=_maybe(NAMES))
        ),
        taint=taints,
    ),
    status=st.builds(DeviceTaintRuleStatus, conditions=_few(conditions)),
    **_kind("DeviceTaintRule"),
)
pool_status_requests = st.builds(
    ResourcePoolStatusRequest,
    kind=st.just("ResourcePoolStatusRequest"),
    api_version=st.just("resource.k8s.io/v1alpha3"),
    metadata=_object_meta(namespaced=False),
    spec=st.builds(
        ResourcePoolStatusRequestSpec, driver=DRIVERS, pool_name=_maybe(POOLS), limit=_maybe(st.integers(1, 1000))
    ),
    status=_maybe(
        st.builds(
            ResourcePoolStatusRequestStatus,
            pool_count=_maybe(st.integers(0, 5)),
            pools=_few(
                st.builds(
                    PoolStatus,
                    driver=_maybe(DRIVERS),
                    pool_name=_maybe(POOLS),
                    generation=st.integers(0, 3),
                    total_devices=_maybe(st.integers(0, 9)),
                    validation_error=_maybe(st.just("incomplete")),
                )
            ),
            conditions=_few(conditions),
        )
    ),
)
