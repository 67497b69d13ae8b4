import json

import pytest

from dray.app.offline import Report, check_offline
from dray.app.wire import wire_offline_context, wire_registry
from dray.effects.clock import FakeClock


def check(manifest: object) -> Report:
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    return check_offline(text, wire_registry(), wire_offline_context(FakeClock()))


def claim(request: object, *, version: str = "v1", **metadata: object) -> dict[str, object]:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": metadata or {"name": "train-0", "namespace": "ml"},
        "spec": {"devices": {"requests": [request]}},
    }


SOUND = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}


def fields(report: Report) -> list[tuple[str, str]]:
    return [(finding.field, finding.reason) for finding in report.findings]


def test_sound_object_has_no_findings() -> None:
    report = check(claim(SOUND))
    assert report.findings == ()
    assert report.title == 'ResourceClaim "ml/train-0"'


def test_every_fault_is_found_at_once() -> None:
    broken = {"name": "gpu", "exactly": {"deviceClassName": "GPU", "counts": 2, "allocationMode": "Some"}}
    assert fields(check(claim(broken))) == [
        ("spec.devices.requests[0].exactly.counts", "UnknownField"),
        ("spec.devices.requests[0].exactly.deviceClassName", "FieldValueInvalid"),
        ("spec.devices.requests[0].exactly.allocationMode", "FieldValueNotSupported"),
    ]


def test_repeated_field_is_found() -> None:
    text = json.dumps(claim(SOUND)).replace('"name": "gpu"', '"name": "gpu", "name": "gpu"').encode()
    assert fields(check(text)) == [("spec.devices.requests[0].name", "DuplicateField")]


def test_older_version_is_checked_in_its_own_shape_with_a_warning() -> None:
    report = check(claim({"name": "gpu", "deviceClassName": "gpu.example.com"}, version="v1beta1"))
    assert report.findings == ()
    assert len(report.warnings) == 1


def test_what_a_server_would_add_is_not_missed() -> None:
    assert check(claim(SOUND, generateName="train-")).findings == ()
    assert check(claim(SOUND, generateName="train-")).title == 'ResourceClaim "train-*"'
    stored = claim(SOUND, name="train-0", namespace="ml", uid="1", resourceVersion="12")
    assert check(stored).findings == ()


def test_object_without_a_name_is_refused() -> None:
    assert fields(check(claim(SOUND, labels={}))) == [("metadata.name", "FieldValueRequired")]


def test_admin_access_is_taken_to_be_permitted() -> None:
    admin = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "adminAccess": True}}
    assert check(claim(admin)).findings == ()


def test_selectors_are_compiled_as_at_admission() -> None:
    selectors = [{"cel": {"expression": each}} for each in ("device.driver == 'a'", "device.driverName == 'a'")]
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "selectors": selectors}}
    report = check(claim(request))
    assert fields(report) == [
        ("spec.devices.requests[0].exactly.selectors[1].cel.expression", "FieldValueInvalid"),
    ]
    assert report.findings[0].hint == "did you mean device.driver?"


@pytest.mark.parametrize(
    ("value", "want"),
    [
        ("two", "must be a whole number, not text"),
        ([1], "must be a whole number, not a list"),
        (1.5, "must be a whole number, not 1.5"),
        (2**63, "must be a whole number of 64 bits, not 9223372036854775808"),
    ],
)
def test_wrong_type_is_told_in_plain_words(value: object, want: str) -> None:
    report = check(claim({"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "count": value}}))
    assert fields(report) == [("spec.devices.requests[0].exactly.count", "FieldValueTypeInvalid")]
    assert want in report.findings[0].message


def test_everything_unreadable_is_named_at_once() -> None:
    limits = {"cpu": "1x", "memory": "1Gi"}
    containers = [{"name": "a", "image": "a"}, {"name": ["b"], "image": "b", "resources": {"limits": limits}}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}
    assert fields(check(pod)) == [
        ("spec.containers[1].name", "FieldValueTypeInvalid"),
        ("spec.containers[1].resources.limits[cpu]", "FieldValueTypeInvalid"),
    ]


def test_names_that_yaml_takes_for_something_else_are_faults_among_others() -> None:
    metadata = {"name": True, "namespace": "ml", "labels": {"a": 1, "b": "c"}}
    report = check({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata})
    assert fields(report) == [
        ("metadata.name", "FieldValueTypeInvalid"),
        ("metadata.labels[a]", "FieldValueTypeInvalid"),
    ]
    assert {each.hint for each in report.findings} == {"put it in quotes"}
    assert (report.kind, report.namespace, report.name) == ("ResourceClaim", "ml", "")


@pytest.mark.parametrize("metadata", [[], "x", 1])
def test_metadata_that_is_no_map_is_a_fault(metadata: object) -> None:
    report = check({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}})
    assert fields(report) == [("metadata", "FieldValueTypeInvalid")]


@pytest.mark.parametrize(
    ("api_version", "kind", "hint"),
    [
        ("resource.k8s.io/v1", "ResourceClaims", "kind: ResourceClaim"),
        ("resource.k8s.io/v1alpha2", "ResourceClaim", "apiVersion: resource.k8s.io/v1"),
        ("resource.k8s.oi/v1", "ResourceClaim", "apiVersion: resource.k8s.io/v1"),
        ("resource.k8s.io/v2", "DeviceClas", "kind: DeviceClass"),
        ("example.com/v1", "Xylophone", None),
    ],
)
def test_unknown_kind_offers_the_closest(api_version: str, kind: str, hint: str | None) -> None:
    (finding,) = check({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}).findings
    assert (finding.reason, finding.hint) == ("NotFound", hint)


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        ({"kind": "Pod"}, "apiVersion"),
        ({"apiVersion": "v1"}, "kind"),
        ({"apiVersion": "v1", "kind": ["Pod"]}, "kind"),
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 1}}, "metadata.name"),
        (b"{", ""),
        (b"1", ""),
    ],
)
def test_object_that_says_not_what_it_is(manifest: object, field: str) -> None:
    (finding,) = check(manifest).findings
    assert finding.field == field


def test_a_pod_runs_under_the_default_account() -> None:
    token = {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    spec = {"containers": [{"name": "a", "image": "a"}], "volumes": [token]}
    assert check({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}).findings == ()
