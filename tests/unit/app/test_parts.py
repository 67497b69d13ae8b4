import pytest

from dray.api.resource.kinds import (
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.app.parts import ControllerChoiceError, choose_versions, plan_controllers
from dray.client.resources import Resource, Resources
from dray.controllers.assembly import choose_controllers


def served(*versions: tuple[str, str]) -> Resources:
    """What serves kinds of resource.k8s.io in these versions."""
    return Resources([Resource("resource.k8s.io", version, f"{kind.lower()}s", kind) for kind, version in versions])


def test_each_kind_is_spoken_in_the_newest_version_that_is_served() -> None:
    versions = choose_versions(
        served(
            ("ResourceClaim", "v1beta1"),
            ("ResourceClaim", "v1beta2"),
            ("ResourceSlice", "v1beta1"),
            ("DeviceTaintRule", "v1alpha3"),
        )
    )
    assert versions == {RESOURCE_CLAIM: "v1beta2", RESOURCE_SLICE: "v1beta1", DEVICE_TAINT_RULE: "v1alpha3"}


def test_the_version_that_is_known_best_goes_first() -> None:
    versions = choose_versions(served(("ResourceClaim", "v1beta1"), ("ResourceClaim", "v1")))
    assert versions == {RESOURCE_CLAIM: "v1"}


def test_kinds_that_are_not_served_have_no_version() -> None:
    assert RESOURCE_POOL_STATUS_REQUEST not in choose_versions(served(("ResourceClaim", "v1")))


def test_all_controllers_agree_by_the_lease_of_kubernetes_own() -> None:
    choice = plan_controllers(["*"])
    assert choice.names == choose_controllers(["*"])
    assert choice.lease == "kube-controller-manager"


def test_some_controllers_agree_by_a_lease_of_their_own() -> None:
    assert plan_controllers(["resourceclaim-controller"]).names == {"resourceclaim-controller"}
    assert plan_controllers(["resourceclaim-controller"]).lease == "dray-controllers"
    assert plan_controllers(["*", "-podgc"]).lease == "dray-controllers"
    assert plan_controllers(["*"], elects=False).lease == ""


def test_a_controller_that_there_is_not_is_refused() -> None:
    with pytest.raises(ControllerChoiceError, match="'claims' is not in the list") as refusal:
        plan_controllers(["claims"])
    assert "resourceclaim-controller" in refusal.value.hint
