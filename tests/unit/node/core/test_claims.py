"""Which claims a pod needs, and whether it may use them."""

from typing import Any

import pytest

from dray.node.core.claims import ClaimUse, PreparationFailed, find_claim_uses, plan_claim
from tests.unit.node.core.things import make_claim, make_pod, result

NAMED = ClaimUse("gpu", "c", must_be_owned=False)
OWNED = ClaimUse("gpu", "c", must_be_owned=True)
GROUP = {"schedulingGroup": {"podGroupName": "g"}}
GROUP_OWNER = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "name": "g", "uid": "gu"}
GROUP_CONSUMER = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "gu"}


def test_claims_are_found_by_name_and_through_their_templates() -> None:
    pod = make_pod(
        {
            "resourceClaims": [
                {"name": "own", "resourceClaimTemplateName": "t"},
                {"name": "shared", "resourceClaimName": "s"},
                {"name": "none", "resourceClaimTemplateName": "t"},
            ]
        },
        {
            "resourceClaimStatuses": [{"name": "own", "resourceClaimName": "p-own-x"}, {"name": "none"}],
            "extendedResourceClaimStatus": {"resourceClaimName": "p-extended-y", "requestMappings": []},
        },
    )
    assert find_claim_uses(pod) == [
        ClaimUse("own", "p-own-x", must_be_owned=True),
        ClaimUse("shared", "s", must_be_owned=False),
        ClaimUse("", "p-extended-y", must_be_owned=False),
    ]


@pytest.mark.parametrize(
    ("entry", "want"),
    [
        ({"resourceClaimTemplateName": "t"}, 'pod "ns/p": ResourceClaim not created yet'),
        ({}, 'pod "ns/p", spec.resourceClaim "gpu": none of the supported fields are set'),
    ],
)
def test_claims_that_are_not_there_yet_are_told(entry: dict[str, str], want: str) -> None:
    pod = make_pod({"resourceClaims": [{"name": "gpu"} | entry]})
    with pytest.raises(PreparationFailed) as refused:
        find_claim_uses(pod)
    assert str(refused.value) == want


@pytest.mark.parametrize(
    ("use", "pod", "claim", "want"),
    [
        (NAMED, {}, {"reserved": ()}, "pod p (u) is not allowed to use ResourceClaim c (c1)"),
        (NAMED, {}, {"reserved": ("other",)}, "pod p (u) is not allowed to use ResourceClaim c (c1)"),
        (NAMED, {}, {"reserved": (GROUP_CONSUMER,)}, "pod p (u) is not allowed to use ResourceClaim c (c1)"),
        (OWNED, {}, {}, "ResourceClaim ns/c was not created for Pod ns/p (Pod is not owner)"),
        (OWNED, {}, {"owner": {"uid": "old"}}, "ResourceClaim ns/c was not created for Pod ns/p (Pod is not owner)"),
        (
            OWNED,
            GROUP,
            {"owner": {"uid": "old"}},
            "ResourceClaim ns/c was not created for Pod ns/p (neither Pod nor PodGroup g is the owner)",
        ),
    ],
)
def test_a_pod_may_use_what_is_its_own_alone(
    use: ClaimUse, pod: dict[str, Any], claim: dict[str, Any], want: str
) -> None:
    with pytest.raises(PreparationFailed) as refused:
        plan_claim(make_pod(pod), use, make_claim(result("a", "gpu-0"), **claim))
    assert str(refused.value) == want


def test_a_claim_without_devices_is_waited_for() -> None:
    with pytest.raises(PreparationFailed, match=r"^ResourceClaim c: not allocated$"):
        plan_claim(make_pod(), NAMED, make_claim())


@pytest.mark.parametrize(
    ("use", "pod", "claim"),
    [
        (OWNED, {}, {"owner": {"uid": "u"}}),
        (OWNED, GROUP, {"owner": GROUP_OWNER, "reserved": (GROUP_CONSUMER,)}),
        (NAMED, GROUP, {"reserved": (GROUP_CONSUMER,)}),
    ],
)
def test_every_driver_of_a_claim_is_called(use: ClaimUse, pod: dict[str, Any], claim: dict[str, Any]) -> None:
    plan = plan_claim(make_pod(pod), use, make_claim(result("b", "0"), result("a", "0"), result("b", "1"), **claim))
    assert dict(plan.skipped_by_driver) == {"a": (), "b": ()}


PREPARE, UNPREPARE = "NodePrepareResources", "NodeUnprepareResources"


@pytest.mark.parametrize(
    ("lists", "want"),
    [
        ([["*"], ["*"]], ("*",)),
        ([["*", PREPARE], ["*"]], ("*",)),
        ([["*"], [UNPREPARE]], (UNPREPARE,)),
        ([["*"], []], ()),
        ([[PREPARE, UNPREPARE], [UNPREPARE]], (UNPREPARE,)),
        ([[PREPARE, UNPREPARE], [UNPREPARE, PREPARE]], (PREPARE, UNPREPARE)),
        ([["Dance"], ["Dance", UNPREPARE]], ("Dance",)),
    ],
)
def test_calls_are_left_out_where_all_devices_of_a_driver_agree(lists: list[list[str]], want: tuple[str, ...]) -> None:
    results = [result("a", str(index), skipNodeOperations=each) for index, each in enumerate(lists)]
    plan = plan_claim(make_pod(), NAMED, make_claim(*results, result("b", "0")))
    assert dict(plan.skipped_by_driver) == {"a": want, "b": ()}
