import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.api.authentication.kinds import TOKEN_REQUEST
from dray.api.codec import decode, encode, get_codec
from dray.api.core.kinds import CONFIG_MAP, NAMESPACE, POD
from dray.api.registry import SERVED, Registry
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.errors import BadRequest
from dray.server.protobuf import MAX_FIELDS, decode_protobuf
from tests.properties.strategies.protobuf import envelop, tagged

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "server" / "protobuf.yaml").read_text(encoding="utf-8"))
KINDS = Registry([*SERVED, TOKEN_REQUEST])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_body_says_what_it_says_in_json(case: dict[str, Any]) -> None:
    decoded = decode_protobuf(bytes.fromhex(case["hex"]))
    named = json.loads(decoded)
    kind = KINDS.find_kind(named["apiVersion"], named["kind"])
    if kind is None:
        assert named == case["want"]
        return
    version = named["apiVersion"].rpartition("/")[2]
    want = json.dumps(case["want"], separators=(",", ":")).encode()
    assert decode(kind, version, decoded) == decode(kind, version, want)


def read(message: str, raw: bytes, api_version: str = "v1") -> Any:
    return json.loads(decode_protobuf(envelop(api_version, message, raw)))


def test_pointer_keeps_its_zero_and_other_fields_lose_theirs() -> None:
    # automountServiceAccountToken: false, hostNetwork: false
    spec = tagged(21, 0) + tagged(11, 0)
    pod = decode(POD, "v1", decode_protobuf(envelop("v1", "Pod", tagged(2, spec))))
    encoded = json.loads(encode(POD, pod, "v1"))
    assert encoded["spec"]["automountServiceAccountToken"] is False
    assert "hostNetwork" not in encoded["spec"]


def test_empty_message_of_a_pointer_stays() -> None:
    volume = tagged(1, b"v") + tagged(2, tagged(2, b""))
    assert read("Pod", tagged(2, tagged(1, volume)))["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_inlined_messages_stand_beside_their_fields() -> None:
    probe = tagged(1, tagged(2, tagged(1, b"/healthz") + tagged(2, tagged(1, 1) + tagged(2, 0) + tagged(3, b"web"))))
    container = tagged(1, b"c") + tagged(10, probe + tagged(2, 5))
    decoded = read("Pod", tagged(2, tagged(2, container)))
    assert decoded["spec"]["containers"][0]["livenessProbe"] == {
        "httpGet": {"path": "/healthz", "port": "web"},
        "initialDelaySeconds": 5,
    }


def test_occurrences_of_a_message_add_up_and_the_last_scalar_counts() -> None:
    raw = tagged(1, tagged(1, b"first")) + tagged(1, tagged(1, b"last") + tagged(3, b"ns"))
    assert read("ConfigMap", raw)["metadata"] == {"name": "last", "namespace": "ns"}


def test_entries_may_lack_key_or_value() -> None:
    raw = (
        tagged(2, tagged(1, b"key"))
        + tagged(2, tagged(2, b"value"))
        + tagged(3, tagged(1, b"k") + tagged(2, b"\x00\xff"))
    )
    decoded = read("ConfigMap", raw)
    assert (decoded["data"], decoded["binaryData"]) == ({"key": "", "": "value"}, {"k": "AP8="})


def test_opaque_parameters_are_embedded_as_they_came() -> None:
    config = tagged(2, tagged(1, tagged(1, b"d") + tagged(2, tagged(1, b'{"b": 1, "a": 2}'))))
    claim = read("ResourceClaim", tagged(2, tagged(1, tagged(3, config))), "resource.k8s.io/v1")
    assert list(claim["spec"]["devices"]["config"][0]["opaque"]["parameters"]) == ["b", "a"]


def test_embedded_json_cannot_break_out() -> None:
    config = tagged(2, tagged(1, tagged(2, tagged(1, b'{}, "driver": "x"'))))
    with pytest.raises(BadRequest, match="after top-level value"):
        read("ResourceClaim", tagged(2, tagged(1, tagged(3, config))), "resource.k8s.io/v1")


def test_times_are_texts_and_the_zero_time_is_absent() -> None:
    times = tagged(8, b"") + tagged(9, tagged(1, 1_700_000_000) + tagged(2, 0))
    assert read("ConfigMap", tagged(1, times))["metadata"] == {"deletionTimestamp": "2023-11-14T22:13:20Z"}
    lease = tagged(2, tagged(3, tagged(1, 1_700_000_000) + tagged(2, 1_500)))
    assert read("Lease", lease, "coordination.k8s.io/v1")["spec"] == {"acquireTime": "2023-11-14T22:13:20.000001Z"}


def test_delete_options_are_read_in_every_version() -> None:
    raw = tagged(1, 0) + tagged(4, b"Background") + tagged(5, b"All")
    for version in ("v1", "meta.k8s.io/v1", "resource.k8s.io/v1"):
        assert read("DeleteOptions", raw, version) == {
            "kind": "DeleteOptions",
            "apiVersion": version,
            "gracePeriodSeconds": 0,
            "propagationPolicy": "Background",
            "dryRun": ["All"],
        }


def test_unknown_fields_are_skipped() -> None:
    assert read("ConfigMap", tagged(999, b"what") + tagged(998, 3) + tagged(2, tagged(1, b"k"))) == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "data": {"k": ""},
    }


def test_text_that_is_no_unicode_is_mended_as_in_json() -> None:
    assert read("ConfigMap", tagged(1, tagged(1, b"a\xffb")))["metadata"]["name"] == "a�b"


def test_another_kind_is_refused_by_the_codec() -> None:
    with pytest.raises(BadRequest) as refusal:
        decode(NAMESPACE, "v1", decode_protobuf(envelop("apps/v1", "Deployment", b""), "Namespace"))
    assert refusal.value.message == (
        'Deployment in version "v1" cannot be handled as a Namespace: '
        "converting (v1.Deployment) to (core.Namespace): unknown conversion"
    )


@pytest.mark.parametrize(
    ("body", "want"),
    [
        (b"", "the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)"),
        (b"k8s\0", "the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)"),
        (
            b"{}",
            "the object provided is unrecognized (must be of type ConfigMap): "
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})",
        ),
        (
            b"k8s\0\x0a\x05",
            "the object provided is unrecognized (must be of type ConfigMap): unexpected EOF (6b3873000a05)",
        ),
        (
            envelop("v1", "ConfigMap", b"\x0a"),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
        ),
        (
            envelop("v1", "ConfigMap", tagged(1, 7)),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field Metadata',
        ),
        (
            envelop("v1", "ConfigMap", tagged(2, b"") * (MAX_FIELDS + 1)),
            f'ConfigMap in version "v1" cannot be handled as a ConfigMap: more than {MAX_FIELDS} fields',
        ),
    ],
    ids=["nothing", "no envelope", "JSON", "torn envelope", "torn message", "wrong wire type", "too many fields"],
)
def test_nonsense_is_refused_in_the_words_of_kubernetes(body: bytes, want: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        decode_protobuf(body, CONFIG_MAP.name)
    assert refusal.value.message == want


def test_every_served_kind_is_known() -> None:
    for kind in SERVED:
        for version in kind.versions:
            named = read(kind.name, b"", kind.api_version(version.name))
            assert get_codec(kind, version.name).decode(json.dumps(named).encode()).kind == kind.name


def test_claims_of_older_versions_have_their_own_shape() -> None:
    request = tagged(1, b"gpu") + tagged(2, b"gpu.example.com")
    raw = tagged(1, tagged(1, b"c")) + tagged(2, tagged(1, tagged(1, request)))
    decoded = decode_protobuf(envelop("resource.k8s.io/v1beta1", "ResourceClaim", raw))
    claim = decode(RESOURCE_CLAIM, "v1beta1", decoded)
    (asked,) = claim.spec.devices.requests or ()
    assert asked.exactly is not None
    assert (asked.name, asked.exactly.device_class_name) == ("gpu", "gpu.example.com")
