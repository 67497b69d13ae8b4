from typing import Any

import msgspec
import pytest

from dray.api.codec import decode, decode_list, encode, encode_list, find_strict_faults, get_codec
from dray.api.core.kinds import SECRET
from dray.api.kind import Kind
from dray.api.meta import ListMeta, ObjectMeta
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.errors import BadRequest

REFUSED = '{kind} in version "v1" cannot be handled as a {kind}: '


def refusal(kind: Kind[Any], text: bytes, *, strict: bool = False) -> str:
    with pytest.raises(BadRequest) as caught:
        decode(kind, "v1", text, strict=strict)
    return caught.value.message.removeprefix(REFUSED.format(kind=kind.name))


def test_decoding_fills_in_what_the_request_says_anyway() -> None:
    claim = decode(RESOURCE_CLAIM, "v1", b'{"metadata": {"name": "c"}}')
    assert (claim.kind, claim.api_version, claim.metadata.name) == ("ResourceClaim", "resource.k8s.io/v1", "c")


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_objects_in_memory_name_the_declared_version(version: str) -> None:
    text = msgspec.json.encode({"apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceClaim"})
    claim = decode(RESOURCE_CLAIM, version, text)
    assert claim.api_version == "resource.k8s.io/v1"
    written = msgspec.json.decode(encode(RESOURCE_CLAIM, claim, version))
    assert written["apiVersion"] == f"resource.k8s.io/{version}"


def test_unknown_version_is_no_codec() -> None:
    with pytest.raises(ValueError, match="not served"):
        get_codec(RESOURCE_CLAIM, "v7")


def test_null_is_absent_wherever_it_stands() -> None:
    text = b"""{"metadata": {"name": null, "labels": {"a": null}, "finalizers": [null]}, "spec": {"pool": null,
        "devices": [null, {"name": "d", "attributes": {"a": null}, "capacity": {"m": {"value": null}}}]}}"""
    thing = decode(RESOURCE_SLICE, "v1", text)
    assert thing.metadata == ObjectMeta(labels={"a": ""}, finalizers=("",))
    empty, device = thing.spec.devices or ()
    assert (empty.name, device.name, str(device.capacity["m"].value)) == ("", "d", "0")
    assert device.attributes["a"].string is None


def test_raw_json_stays_as_it_came_even_beside_nulls() -> None:
    parameters = b'{"b": null, "a": 1.50, "n": [null]}'
    text = (
        b'{"metadata": {"name": null}, "spec": {"devices": {"config": [{"opaque": {"driver": "d.x", "parameters": '
        + parameters
        + b"}}]}}}"
    )
    claim = decode(RESOURCE_CLAIM, "v1", text)
    opaque = claim.spec.devices.config[0].opaque
    assert opaque is not None
    assert msgspec.json.decode(bytes(opaque.parameters)) == msgspec.json.decode(parameters)
    assert b"1.50" in bytes(opaque.parameters)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (
            b'{"metadata": {"name": 1}}',
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
        ),
        (
            b'{"metadata": {"labels": {"a": true}}}',
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            b'{"spec": {"devices": [{"name": "d"}, {"name": ["x"]}]}}',
            "json: cannot unmarshal array into Go struct field Device.spec.devices.name of type string",
        ),
        (
            b'{"spec": {"pool": "p"}}',
            "json: cannot unmarshal string into Go struct field ResourceSliceSpec.spec.pool of type v1.ResourcePool",
        ),
        (
            b'{"spec": {"pool": {"generation": 1.5}}}',
            "json: cannot unmarshal number 1.5 into Go struct field ResourcePool.spec.pool.generation of type int64",
        ),
        (
            b'{"spec": {"pool": {"generation": 9223372036854775808}}}',
            "json: cannot unmarshal number 9223372036854775808 into Go struct field "
            "ResourcePool.spec.pool.generation of type int64",
        ),
        (
            b'{"metadata": {"name": 1, "creationTimestamp": 5}}',
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
        ),
        (
            b'{"metadata": {"creationTimestamp": "yesterday"}}',
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
        ),
        (
            b'{"spec": {"devices": [{"capacity": {"m": {"value": {}}}}]}}',
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_wrong_types_are_named_as_the_api_server_names_them(text: bytes, want: str) -> None:
    assert refusal(RESOURCE_SLICE, text) == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (b'"aGVsbG8="', b"hello"),
        (b'"aGVs\\nbG8=\\n"', b"hello"),
        (b'""', b""),
        (b"null", b""),
    ],
)
def test_bytes_are_base64_with_or_without_line_breaks(value: bytes, want: bytes) -> None:
    assert decode(SECRET, "v1", b'{"data": {"a": %s}}' % value).data == {"a": want}


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (b'"hello!"', "illegal base64 data at input byte 5"),
        (b'"aGVsbG8"', "illegal base64 data at input byte 4"),
        (b"1", "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"),
    ],
)
def test_bytes_that_are_not_base64_are_refused(value: bytes, want: str) -> None:
    assert refusal(SECRET, b'{"data": {"a": %s}}' % value) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b'{"metadata":', 'unexpected end of JSON input ({"metadata":)'),
        (b"", "unexpected end of JSON input (<empty>)"),
        (
            b"[]",
            "json: cannot unmarshal array into Go value of type struct { "
            'APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
        ),
        (
            b'{"kind": 1}',
            'json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})',
        ),
        (
            b"kind: ResourceClaim",
            "invalid character 'k' looking for beginning of value (6b696e643a205265736f75726365436c61696d)",
        ),
        (b'{"a": 1,}', "invalid character '}' looking for beginning of object key string ({\"a\": 1,})"),
    ],
)
def test_text_that_is_not_json_is_explained(text: bytes, want: str) -> None:
    prefix = (
        "the object provided is unrecognized (must be of type ResourceClaim): couldn't get version/kind; "
        "json parse error: "
    )
    assert refusal(RESOURCE_CLAIM, text) == prefix + want


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("members", ["", '"metadata": null, '])
@pytest.mark.parametrize(("depth", "is_read"), [(100, True), (100_000, False)])
def test_depth_is_bounded(depth: int, is_read: bool, members: str, strict: bool) -> None:
    parameters = '{"a":' * depth + "1" + "}" * depth
    text = f'{{{members}"spec": {{"devices": {{"config": [{{"opaque": {{"parameters": {parameters}}}}}]}}}}}}'.encode()
    if is_read:
        assert decode(RESOURCE_CLAIM, "v1", text, strict=strict).spec.devices.config
    else:
        assert "exceeded max depth" in refusal(RESOURCE_CLAIM, text, strict=strict)


def test_another_kind_or_version_is_refused() -> None:
    assert refusal(RESOURCE_CLAIM, b'{"kind": "ResourceSlice", "apiVersion": "resource.k8s.io/v1"}') == (
        'ResourceSlice in version "v1" cannot be handled as a ResourceClaim: '
        "converting (v1.ResourceSlice) to (resource.ResourceClaim): unknown conversion"
    )
    assert refusal(RESOURCE_CLAIM, b'{"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v9", "spec": 1}') == (
        'ResourceClaim in version "v9" cannot be handled as a ResourceClaim: '
        'no kind "ResourceClaim" is registered for version "resource.k8s.io/v9" '
        'in scheme "pkg/api/legacyscheme/scheme.go:30"'
    )


def test_strict_decoding_lists_every_fault() -> None:
    text = b'{"metadata": {"labels": {"a": "1", "a": "2"}, "bogus": 1}, "status": {}, "extra": {"x": 1}}'
    assert refusal(RESOURCE_CLAIM, text, strict=True) == (
        'strict decoding error: duplicate field "metadata.labels.a", unknown field "metadata.bogus", '
        'unknown field "extra"'
    )
    assert decode(RESOURCE_CLAIM, "v1", text).metadata.labels == {"a": "2"}


def test_strict_faults_use_the_names_of_the_version_that_was_sent() -> None:
    text = b"""{"spec": {"devices": [
        {"name": "d", "attributes": {}, "basic": {"attributes": {"a": {"str": "x"}}, "capacity": {"m": {"value": 1}}}}
    ]}}"""
    assert list(map(str, find_strict_faults(RESOURCE_SLICE, "v1beta1", text))) == [
        'unknown field "spec.devices[0].attributes"',
        'unknown field "spec.devices[0].basic.attributes.a.str"',
    ]
    assert list(map(str, find_strict_faults(RESOURCE_SLICE, "v1", text))) == ['unknown field "spec.devices[0].basic"']


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_lists_hold_bare_items_and_come_back_whole(version: str) -> None:
    claims = [decode(RESOURCE_CLAIM, "v1", b'{"metadata": {"name": "%c"}}' % letter) for letter in b"abc"]
    text = encode_list(RESOURCE_CLAIM, claims, ListMeta(resource_version="7"), version)
    written = msgspec.json.decode(text)
    assert (written["kind"], written["apiVersion"]) == ("ResourceClaimList", f"resource.k8s.io/{version}")
    assert all("kind" not in item and "apiVersion" not in item for item in written["items"])
    read = decode_list(RESOURCE_CLAIM, version, text)
    assert (list(read.items), read.metadata.resource_version) == (claims, "7")


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_null_in_a_list_stands_for_what_is_not_there(version: str) -> None:
    items = b'{"metadata": {"name": "a", "labels": null}, "status": null}, {"metadata": {"name": "b"}}'
    read = decode_list(RESOURCE_CLAIM, version, b'{"metadata": {"resourceVersion": "7"}, "items": [%b]}' % items)
    names = [decode(RESOURCE_CLAIM, version, b'{"metadata": {"name": "%c"}}' % letter) for letter in b"ab"]
    assert (list(read.items), read.metadata.resource_version) == (names, "7")
    assert decode_list(RESOURCE_CLAIM, version, b'{"metadata": null, "items": null}').items == ()


def test_a_list_of_something_else_is_refused() -> None:
    for text in (b'{"items": 1}', b'{"items": [{"metadata": 1}]}', b"[]", b"{"):
        with pytest.raises(BadRequest, match="ResourceClaim"):
            decode_list(RESOURCE_CLAIM, "v1", text)


def test_an_empty_list_has_items() -> None:
    assert msgspec.json.decode(encode_list(RESOURCE_CLAIM, [], ListMeta(), "v1"))["items"] == []
