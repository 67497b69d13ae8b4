"""What an allocation says beside its devices."""

from itertools import count

import msgspec

from dray.allocator.allocate import allocate
from dray.allocator.cluster import Cluster
from dray.allocator.outcome import Allocated
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import DeviceClaimConfiguration, ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.request import OpaqueDeviceConfiguration
from tests.cases.allocator.terse import NODE, Raw, cluster_of, decode, read_claims


def allocated(cluster: Cluster, claims: list[ResourceClaim]) -> tuple[AllocationResult, ...]:
    numbers = count()
    outcome = allocate(claims, cluster, NODE, share_ids=lambda: f"share-{next(numbers)}")
    assert isinstance(outcome, Allocated)
    return outcome.allocations


def results_of(case: Raw) -> list[AllocationResult]:
    return list(allocated(cluster_of(case), read_claims(case)))


def opaque(text: str) -> OpaqueDeviceConfiguration:
    return OpaqueDeviceConfiguration(driver="d", parameters=msgspec.Raw(f'"{text}"'.encode()))


def test_configuration_is_gathered_from_classes_and_claim() -> None:
    case = {
        "devices": {"a": ["d0", "d1"]},
        "claims": {"c": {"r0": [{"class": "A"}, {"class": "B"}], "r1": {"class": "A"}}},
    }
    cluster = cluster_of(case)
    for name in "AB":
        raw = {"metadata": {"name": name}, "spec": {"config": [{"opaque": {"driver": "d", "parameters": name}}]}}
        cluster.put_class(decode(raw, DeviceClass))
    written = (("X", ("r0/s0", "r0/s1")), ("Y", ("r0/s1",)), ("Z", ("r0/s0", "r1")), ("W", ()))
    config = tuple(DeviceClaimConfiguration(requests=requests, opaque=opaque(text)) for text, requests in written)
    (claim,) = read_claims(case)
    devices = msgspec.structs.replace(claim.spec.devices, config=config)
    claim = msgspec.structs.replace(claim, spec=msgspec.structs.replace(claim.spec, devices=devices))
    (allocation,) = allocated(cluster, [claim])
    got = [
        (each.source, bytes(each.opaque.parameters), each.requests) for each in allocation.devices.config if each.opaque
    ]
    assert got == [
        ("FromClass", b'"A"', ()),
        ("FromClaim", b'"X"', ("r0/s0", "r0/s1")),
        ("FromClaim", b'"Z"', ()),
        ("FromClaim", b'"W"', ()),
    ]


def test_devices_of_a_node_tie_the_claim_to_it() -> None:
    (allocation,) = results_of({"devices": {"a": ["d0"]}, "claims": {"c": {"r": 1}}})
    assert allocation.node_selector is not None
    (term,) = allocation.node_selector.node_selector_terms
    assert [(each.key, each.values) for each in term.match_fields] == [("metadata.name", (NODE,))]


def selector(key: str) -> Raw:
    return {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "Exists"}]}]}}


def test_requirements_of_all_devices_are_joined_once_each() -> None:
    case = {
        "labels": {"zone": "a", "rack": "b"},
        "slices": [
            {"pool": "p1", "where": selector("zone"), "devices": ["d0", "d1"]},
            {"pool": "p2", "where": {"allNodes": True}, "devices": ["d0"]},
            {"pool": "p3", "where": selector("rack"), "devices": ["d0"]},
        ],
        "claims": {"c": {"r": 4}},
    }
    (allocation,) = results_of(case)
    assert allocation.node_selector is not None
    (term,) = allocation.node_selector.node_selector_terms
    assert [each.key for each in term.match_expressions] == ["zone", "rack"]


def test_devices_of_all_nodes_leave_the_claim_free() -> None:
    (allocation,) = results_of(
        {"slices": [{"where": {"allNodes": True}, "devices": ["d0"]}], "claims": {"c": {"r": 1}}}
    )
    assert allocation.node_selector is None


def test_a_device_that_binds_ties_the_claim_to_the_node() -> None:
    device = {"d0": {"more": {"bindsToNode": True}}}
    (allocation,) = results_of(
        {"slices": [{"where": {"allNodes": True}, "devices": [device]}], "claims": {"c": {"r": 1}}}
    )
    assert allocation.node_selector is not None


def test_each_share_has_its_own_identifier_and_its_amounts() -> None:
    device = {"d0": {"shared": True, "capacity": {"m": 10, "k": {"value": 5, "default": 0}}}}
    case = {
        "devices": {"a": [device]},
        "claims": {"c": {"r": {"amounts": {"m": 2}}}, "e": {"r": {"amounts": {"m": 3}}}},
    }
    results = [each.devices.results[0] for each in results_of(case)]
    assert [each.share_id for each in results] == ["share-0", "share-1"]
    amounts = [{name: str(amount) for name, amount in each.consumed_capacity.items()} for each in results]
    assert amounts == [{"m": "2", "k": "0"}, {"m": "3", "k": "0"}]


def test_tolerations_and_conditions_are_copied() -> None:
    wish = {"tolerates": [{"operator": "Exists"}]}
    (allocation,) = results_of({"devices": {"a": [{"d0": {"conditions": True}}]}, "claims": {"c": {"r": wish}}})
    (result,) = allocation.devices.results
    assert len(result.tolerations) == 1
    assert result.binding_conditions == ("Ready",)
    assert result.admin_access is None
