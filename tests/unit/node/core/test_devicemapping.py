"""Which container gets which device."""

from typing import Any

import pytest

from dray.api.core.pod import Pod
from dray.driver.claims import ClaimRef
from dray.node.core.devicemapping import ClaimMissing, find_cdi_ids, find_granted_devices, find_used_claims
from dray.node.core.prepared_claims import ClaimRecord, DriverState, PreparedClaims, ReadyDevice
from tests.unit.node.core.things import make_pod


def prepared(*devices: ReadyDevice, name: str = "c", pods: frozenset[str] = frozenset({"u"})) -> ClaimRecord:
    return ClaimRecord(ClaimRef(namespace="ns", name=name, uid=f"uid-{name}"), pods, {"drv": DriverState(devices)})


def device(name: str, *requests: str) -> ReadyDevice:
    return ReadyDevice("n", name, requests, (f"v/c={name}",))


TWO = prepared(device("big", "large"), device("small", "little"), device("any"))


def pod_with(*entries: dict[str, str], status: dict[str, Any] | None = None, **resources: Any) -> Pod:
    container = {"name": "main", "image": "a", "resources": {"claims": list(entries)} | resources}
    claims = [{"name": "gpu", "resourceClaimName": "c"}, {"name": "other", "resourceClaimTemplateName": "t"}]
    return make_pod({"containers": [container], "resourceClaims": claims}, status)


@pytest.mark.parametrize(
    ("entries", "want"),
    [
        ([], ()),
        ([{"name": "gpu"}], ("v/c=big", "v/c=small", "v/c=any")),
        ([{"name": "gpu", "request": "large"}], ("v/c=big", "v/c=any")),
        ([{"name": "gpu", "request": "large/first"}], ("v/c=big", "v/c=any")),
        (
            [{"name": "gpu", "request": "little"}, {"name": "gpu", "request": "large"}],
            ("v/c=big", "v/c=small", "v/c=any"),
        ),
        ([{"name": "gpu", "request": "none"}], ("v/c=any",)),
        ([{"name": "other"}], ()),
    ],
)
def test_a_container_gets_the_devices_of_the_requests_it_names(
    entries: list[dict[str, str]], want: tuple[str, ...]
) -> None:
    pod = pod_with(*entries, status={"resourceClaimStatuses": [{"name": "other"}]})
    granted = find_granted_devices(pod, pod.spec.containers[0], PreparedClaims([TWO]))
    assert find_cdi_ids(granted) == want


@pytest.mark.parametrize("records", [[], [prepared(device("a"), pods=frozenset({"somebody else"}))]])
def test_a_container_is_not_made_without_its_claim(records: list[ClaimRecord]) -> None:
    pod = pod_with({"name": "gpu"})
    with pytest.raises(ClaimMissing) as refused:
        find_granted_devices(pod, pod.spec.containers[0], PreparedClaims(records))
    assert str(refused.value) == "internal error: unable to get claim info for ResourceClaim c in namespace ns"


@pytest.mark.parametrize(
    ("container", "amount", "want"), [("main", "1", ("v/c=big",)), ("main", "0", ()), ("elsewhere", "1", ())]
)
def test_extended_resources_are_devices_of_the_claim_that_stands_for_them(
    container: str, amount: str, want: tuple[str, ...]
) -> None:
    mapping = {"containerName": container, "resourceName": "example.com/gpu", "requestName": "large"}
    status = {"extendedResourceClaimStatus": {"resourceClaimName": "ext", "requestMappings": [mapping]}}
    pod = pod_with(status=status, requests={"example.com/gpu": amount})
    claims = PreparedClaims([prepared(device("big", "large"), device("small", "little"), name="ext")])
    assert find_cdi_ids(find_granted_devices(pod, pod.spec.containers[0], claims)) == want
    assert find_used_claims(pod, pod.spec.containers[0]) == (["ext"] if want else [])
