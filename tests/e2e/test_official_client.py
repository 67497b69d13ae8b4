"""The Python client of the Kubernetes project, against a server as people run it."""

import threading
import uuid  # noqa: TID251  # the session's server is shared: names must not meet
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

REQUEST = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}


# Not everything of the client is typed, and what is says of every part that it may be missing.
kube: Any = client
more: Any = SimpleNamespace(config=config, dynamic=dynamic, watch=watch)


@contextmanager
def closing_connections(api: Any) -> Iterator[Any]:
    with api:
        yield api
    api.rest_client.pool_manager.clear()


@pytest.fixture
def api(kubeconfig: Path) -> Iterator[Any]:
    with closing_connections(more.config.new_client_from_config(config_file=str(kubeconfig))) as api:
        yield api


@pytest.fixture
def namespace(api: Any) -> str:
    name = f"official-{uuid.uuid4().hex[:8]}"
    kube.CoreV1Api(api).create_namespace({"metadata": {"name": name}})
    return name


def config_map(name: str, **content: str) -> Any:
    return kube.V1ConfigMap(metadata=kube.V1ObjectMeta(name=name, labels={"part": "test"}), data=content)


def claim(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"devices": {"requests": [REQUEST]}}}


def test_objects_are_made_read_changed_and_deleted(api: Any, namespace: str) -> None:
    core = kube.CoreV1Api(api)
    created = core.create_namespaced_config_map(namespace, config_map("one", a="1"))
    assert created.metadata.uid
    core.create_namespaced_config_map(namespace, config_map("two", a="2"))
    listed = core.list_namespaced_config_map(namespace, label_selector="part=test")
    assert [each.metadata.name for each in listed.items] == ["one", "two"]
    created.data["a"] = "3"
    assert core.replace_namespaced_config_map("one", namespace, created).data == {"a": "3"}
    with pytest.raises(ApiException) as refused:
        core.replace_namespaced_config_map("one", namespace, created)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    patched = core.patch_namespaced_config_map("two", namespace, {"data": {"b": "x"}})
    assert patched.data == {"a": "2", "b": "x"}
    core.delete_namespaced_config_map("one", namespace)
    with pytest.raises(ApiException) as missing:
        core.read_namespaced_config_map("one", namespace)
    assert missing.value.status == 404


def test_claims_are_typed_objects(api: Any, namespace: str) -> None:
    resource = kube.ResourceV1Api(api)
    created = resource.create_namespaced_resource_claim(namespace, claim("c"))
    assert created.spec.devices.requests[0].exactly.allocation_mode == "ExactCount"
    assert created.spec.devices.requests[0].exactly.count == 1
    assert resource.list_resource_claim_for_all_namespaces(field_selector="metadata.name=c").items
    with pytest.raises(ApiException) as refused:
        resource.create_namespaced_resource_claim(namespace, claim("Not A Name"))
    assert refused.value.status == 422


def test_pages_are_continued(api: Any, namespace: str) -> None:
    core = kube.CoreV1Api(api)
    for number in range(5):
        core.create_namespaced_config_map(namespace, config_map(f"c{number}"))
    names: list[str] = []
    page = core.list_namespaced_config_map(namespace, limit=2)
    names += [each.metadata.name for each in page.items]
    while page.metadata._continue:
        page = core.list_namespaced_config_map(namespace, limit=2, _continue=page.metadata._continue)
        names += [each.metadata.name for each in page.items]
    assert names == ["c0", "c1", "c2", "c3", "c4", "kube-root-ca.crt"]


def test_changes_are_watched(api: Any, namespace: str) -> None:
    core = kube.CoreV1Api(api)
    since = core.list_namespaced_config_map(namespace, label_selector="part=test").metadata.resource_version

    def change() -> None:
        core.create_namespaced_config_map(namespace, config_map("a", n="1"))
        core.patch_namespaced_config_map("a", namespace, {"data": {"n": "2"}})
        core.delete_namespaced_config_map("a", namespace)

    changing = threading.Thread(target=change)
    told: list[tuple[str, str]] = []
    watching = more.watch.Watch()
    changing.start()
    for event in watching.stream(
        core.list_namespaced_config_map,
        namespace,
        label_selector="part=test",
        resource_version=since,
        timeout_seconds=30,
    ):
        told.append((event["type"], event["object"].data["n"]))
        if len(told) == 3:
            watching.stop()
    changing.join()
    assert told == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def test_configurations_are_applied(api: Any, namespace: str, tmp_path: Path) -> None:
    maps = more.dynamic.DynamicClient(api, cache_file=str(tmp_path / "discovery")).resources.get(
        api_version="v1", kind="ConfigMap"
    )

    def apply(manager: str, force: bool = False, **content: str) -> Any:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": content}
        return maps.server_side_apply(
            body=body, name="a", namespace=namespace, field_manager=manager, force_conflicts=force
        )

    assert apply("one", a="1", b="1").data.to_dict() == {"a": "1", "b": "1"}
    with pytest.raises(ApiException) as refused:
        apply("two", a="2")
    assert refused.value.status == 409
    assert apply("two", force=True, a="2").data.to_dict() == {"a": "2", "b": "1"}
    assert apply("one", a="2").data.to_dict() == {"a": "2"}


def test_pods_are_evicted_and_logs_are_empty_without_a_node(api: Any, namespace: str) -> None:
    core = kube.CoreV1Api(api)
    container = kube.V1Container(name="main", image="registry.example/app")
    pod = kube.V1Pod(metadata=kube.V1ObjectMeta(name="p"), spec=kube.V1PodSpec(containers=[container]))
    assert core.create_namespaced_pod(namespace, pod).status.phase == "Pending"
    assert core.read_namespaced_pod_log("p", namespace) is None
    eviction = kube.V1Eviction(metadata=kube.V1ObjectMeta(name="p", namespace=namespace))
    core.create_namespaced_pod_eviction("p", namespace, eviction)
    with pytest.raises(ApiException) as gone:
        core.read_namespaced_pod("p", namespace)
    assert gone.value.status == 404


def test_who_may_what_is_answered(api: Any, namespace: str) -> None:
    attributes = kube.V1ResourceAttributes(namespace=namespace, verb="get", resource="pods")
    review = kube.V1SelfSubjectAccessReview(spec=kube.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes))
    assert kube.AuthorizationV1Api(api).create_self_subject_access_review(review).status.allowed
    token = kube.CoreV1Api(api).create_namespaced_service_account_token(
        "default", namespace, {"spec": {"expirationSeconds": 600}}
    )
    limited = kube.Configuration()
    limited.host = api.configuration.host
    limited.ssl_ca_cert = api.configuration.ssl_ca_cert
    limited.api_key = {"authorization": f"Bearer {token.status.token}"}
    with closing_connections(kube.ApiClient(limited)) as stranger, pytest.raises(ApiException) as refused:
        kube.CoreV1Api(stranger).list_namespaced_pod(namespace)
    assert refused.value.status == 403
    assert f"system:serviceaccount:{namespace}:default" in str(refused.value.body)


def test_the_version_is_told(api: Any) -> None:
    assert kube.VersionApi(api).get_code().minor == "37"
    groups = {each.name for each in kube.ApisApi(api).get_api_versions().groups}
    assert "resource.k8s.io" in groups
