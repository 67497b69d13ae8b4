import pytest

from dray.api.kind import STATUS, Scope
from dray.api.resource.kinds import (
    DEVICE_TAINT_RULE,
    KINDS,
    RESOURCE_CLAIM,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec

CORE = ("v1", "v1beta2", "v1beta1")


def test_kinds_are_served_where_the_api_server_serves_them() -> None:
    assert {kind.plural: (kind.scope, tuple(version.name for version in kind.versions)) for kind in KINDS} == {
        "deviceclasses": (Scope.CLUSTER, CORE),
        "devicetaintrules": (Scope.CLUSTER, ("v1", "v1beta2", "v1alpha3")),
        "resourceclaims": (Scope.NAMESPACED, CORE),
        "resourceclaimtemplates": (Scope.NAMESPACED, CORE),
        "resourcepoolstatusrequests": (Scope.CLUSTER, ("v1alpha3",)),
        "resourceslices": (Scope.CLUSTER, CORE),
    }


def test_kinds_stand_in_the_order_of_discovery() -> None:
    assert [kind.plural for kind in KINDS] == sorted(kind.plural for kind in KINDS)


def test_some_kinds_have_a_status() -> None:
    assert {kind.name for kind in KINDS if STATUS in kind.subresources} == {
        "DeviceTaintRule",
        "ResourceClaim",
        "ResourcePoolStatusRequest",
    }


def test_some_kinds_count_generations() -> None:
    assert {kind.name for kind in KINDS if kind.counts_generations} == {
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceSlice",
    }


def test_every_kind_is_checked() -> None:
    assert [kind.name for kind in KINDS if not (kind.create_checks and kind.update_checks)] == []
    assert [kind.name for kind in KINDS if bool(kind.status_checks) != kind.has_status] == []


def test_old_versions_warn() -> None:
    warnings = [version.deprecation for kind in KINDS for version in kind.versions if version.deprecation]

    assert len(warnings) == 9
    assert "resource.k8s.io/v1alpha3 DeviceTaintRule is deprecated in v1.36+, unavailable in v1.39+" in warnings
    assert "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+" in warnings


def test_versions_that_are_not_deprecated_yet_do_not_warn() -> None:
    assert [kind.find_version("v1") for kind in KINDS if (v1 := kind.find_version("v1")) and v1.deprecation] == []
    assert [each.deprecation for each in RESOURCE_POOL_STATUS_REQUEST.versions] == [None]
    assert [bool(each.deprecation) for each in DEVICE_TAINT_RULE.versions] == [False, False, True]


def test_only_a_current_taint_rule_must_be_known_to_be_replaced() -> None:
    strict = [
        (kind.name, version.name) for kind in KINDS for version in kind.versions if not version.unconditional_update
    ]

    assert strict == [("DeviceTaintRule", "v1"), ("ResourcePoolStatusRequest", "v1alpha3")]


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        (
            ResourceSliceSpec(driver="d", pool=ResourcePool(name="p"), node_name="n"),
            {"spec.driver": "d", "spec.nodeName": "n", "spec.pool.name": "p"},
        ),
        (ResourceSliceSpec(), {"spec.driver": "", "spec.nodeName": "", "spec.pool.name": ""}),
    ],
)
def test_slices_are_selected_by_fields(spec: ResourceSliceSpec, want: dict[str, str]) -> None:
    selectors = RESOURCE_SLICE.field_selectors

    assert {name: value(ResourceSlice(spec=spec)) for name, value in selectors.items()} == want


def test_other_kinds_are_selected_by_name_alone() -> None:
    assert [kind.name for kind in KINDS if kind.field_selectors] == ["ResourceSlice"]
    assert RESOURCE_CLAIM.field_selectors == {}


@pytest.mark.parametrize(
    ("driver", "want"),
    [
        ("gpu.example.com", []),
        (
            "GPU.example.com",
            ['spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase characters'],
        ),
    ],
)
def test_upper_case_in_the_driver_of_a_slice_is_warned_of(driver: str, want: list[str]) -> None:
    assert RESOURCE_SLICE.warnings(ResourceSlice(spec=ResourceSliceSpec(driver=driver))) == want
