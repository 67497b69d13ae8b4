import msgspec
import pytest

from dray.api.discovery import aggregate_groups
from dray.api.registry import SERVED
from dray.client.resources import Resources, UnknownResource, decode_resources


@pytest.fixture(scope="module")
def resources() -> Resources:
    return decode_resources(msgspec.json.encode(aggregate_groups(SERVED, core=core)) for core in (True, False))


@pytest.mark.parametrize("word", ["pods", "pod", "po", "Pod", "POD"])
def test_a_kind_has_many_names(resources: Resources, word: str) -> None:
    assert resources.find(word).path("demo", "web") == "/api/v1/namespaces/demo/pods/web"


@pytest.mark.parametrize(
    "word", ["resourceclaim", "resourceclaims", "resourceclaims.resource.k8s.io", "resourceclaims.v1.resource.k8s.io"]
)
def test_the_group_and_its_version_may_be_said(resources: Resources, word: str) -> None:
    assert resources.find(word).path("demo") == "/apis/resource.k8s.io/v1/namespaces/demo/resourceclaims"


def test_an_older_version_is_had_by_name(resources: Resources) -> None:
    assert resources.find("resourceclaims.v1beta1.resource.k8s.io").version == "v1beta1"


def test_objects_of_the_cluster_are_in_no_namespace(resources: Resources) -> None:
    assert resources.find("nodes").path("demo", "a") == "/api/v1/nodes/a"


def test_names_cannot_lead_elsewhere(resources: Resources) -> None:
    assert resources.find("pods").path("demo", "../x?y") == "/api/v1/namespaces/demo/pods/..%2Fx%3Fy"


def test_a_manifest_says_which_kind_it_is(resources: Resources) -> None:
    assert resources.find_kind("resource.k8s.io/v1beta2", "ResourceClaim").version == "v1beta2"
    assert resources.find_kind("v1", "Pod").title == "pod"
    assert resources.find("resourceclaims").title == "resourceclaim.resource.k8s.io"


@pytest.mark.parametrize(("word", "hint"), [("resourceclam", "resourceclaim"), ("nods", "nodes")])
def test_a_slip_is_answered_with_what_comes_close(resources: Resources, word: str, hint: str) -> None:
    with pytest.raises(UnknownResource, match=word) as fault:
        resources.find(word)
    assert hint in fault.value.hint


def test_a_version_that_is_not_served_is_answered_with_one_that_is(resources: Resources) -> None:
    with pytest.raises(UnknownResource) as fault:
        resources.find_kind("resource.k8s.io/v1alpha1", "ResourceClaim")
    assert fault.value.hint == "apiVersion: resource.k8s.io/v1"


@pytest.mark.parametrize("body", [b'{"kind":"APIVersions"}', b"<html>", b"[]"])
def test_what_is_no_discovery_is_refused(body: bytes) -> None:
    with pytest.raises(UnknownResource):
        decode_resources([body])
