"""What no well-meaning client sends: each is refused clearly, and the server goes on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.wire import Wire

MAPS = "/api/v1/namespaces/default/configmaps"
JSON, YAML = "application/json", "application/yaml"
MEBIBYTE = 1024 * 1024


@pytest.fixture
def wire(kubeconfig: Path) -> Iterator[Wire]:
    """A connection; the server still answers others after whatever was sent on it."""
    with Wire(kubeconfig) as wire:
        yield wire
    with Wire(kubeconfig) as other:
        assert other.ask("GET /readyz") == (200, b"ok")


def test_a_body_that_is_announced_too_large_is_not_read(wire: Wire) -> None:
    wire.send(f"POST {MAPS}", Content_Length=str(3 * MEBIBYTE + 1), Content_Type=JSON)
    answer = wire.read()
    assert (answer.code, answer.status["reason"]) == (413, "RequestEntityTooLarge")
    assert "limit is 3145728" in answer.status["message"]


def test_a_body_that_grows_too_large_is_not_read_to_its_end(wire: Wire) -> None:
    wire.send_chunks(f"POST {MAPS}", (b" " * 65_536 for _ in range(49)), Content_Type=JSON)
    assert wire.read().code == 413


def nested(depth: int) -> bytes:
    return b'{"metadata":{"name":"a"},"data":' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize("depth", [1_000, 100_000, 1_500_000])
def test_deep_json_is_refused(wire: Wire, depth: int) -> None:
    answer = wire.ask(f"POST {MAPS}", nested(depth), Content_Type=JSON)
    assert (answer.code, answer.status["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize(
    "media",
    [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ],
)
@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_deep_patches_are_refused(wire: Wire, media: str, depth: int) -> None:
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    body = {
        "application/json-patch+json": b'[{"op":"add","path":"/data","value":' + deep + b"}]",
    }.get(media, b'{"apiVersion":"v1","kind":"ConfigMap","data":' + deep + b"}")
    answer = wire.ask(f"PATCH {MAPS}/kube-root-ca.crt?fieldManager=x&force=true", body, Content_Type=media)
    assert answer.code in (400, 413, 422)
    assert answer.status["status"] == "Failure"


def test_deep_and_growing_yaml_is_refused(wire: Wire) -> None:
    deep = b"data: " + b"[" * 50_000
    assert wire.ask(f"POST {MAPS}", deep, Content_Type=YAML).code == 400
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%b]" % (each, each, b", ".join([b"*a%d" % (each - 1)] * 10)) for each in range(1, 12)]
    answer = wire.ask(f"POST {MAPS}", b"\n".join(lines), Content_Type=YAML)
    assert answer.code == 400
    assert answer.status["reason"] == "BadRequest"


def test_bad_utf8_becomes_the_replacement_character(wire: Wire) -> None:
    wire.ask(f"DELETE {MAPS}/bad-utf8")
    body = b'{"metadata":{"name":"bad-utf8"},"data":{"a":"\xff\xfe"}}'
    answer = wire.ask(f"POST {MAPS}", body, Content_Type=JSON)
    assert answer.code == 201
    assert json.loads(answer.body)["data"]["a"] == "��"
    assert wire.ask(f"POST {MAPS}", b"\xff\xfe\x00", Content_Type=JSON).code == 400
    assert wire.ask(f"POST {MAPS}", b"a: \xff", Content_Type=YAML).code == 400


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/v1/namespaces/%FF/configmaps", 200),  # a name that nothing has
        (f"{MAPS}/%00", 404),
        (f"{MAPS}/{'a' * 60_000}", 404),
        (f"{MAPS}/{'a' * 70_000}", 400),
        (f"{MAPS}/..%2F..%2Fsecrets", 404),
        ("/api/v1/" + "namespaces/default/" * 1_000, 404),
        ("//api//v1//", 404),
        ("/api/v1/namespaces/default/configmaps?limit=99999999999999999999", 400),
        ("/api/v1/namespaces/default/configmaps?limit=-1", 200),
        ("/api/v1/namespaces/default/configmaps?continue=%00%FF", 400),
        ("/api/v1/namespaces/default/configmaps?labelSelector=%00", 400),
        ("/api/v1/namespaces/default/configmaps?labelSelector=a%20in%20(", 400),
        ("/api/v1/namespaces/default/configmaps?fieldSelector=spec.secret%3Da", 400),
        ("/api/v1/namespaces/default/configmaps?resourceVersion=x", 400),
        ("/api/v1/namespaces/default/configmaps?timeoutSeconds=x", 400),
    ],
)
def test_odd_paths_and_parameters_are_answered(wire: Wire, path: str, code: int) -> None:
    assert wire.ask(f"GET {path}").code == code


def test_huge_label_selectors_are_answered(wire: Wire) -> None:
    values = ",".join(f"v{number}" for number in range(8_000))
    answer = wire.ask(f"GET {MAPS}?labelSelector=a+in+({values})")
    assert (answer.code, json.loads(answer.body)["items"]) == (200, [])
    many = ",".join(f"k{number}%3Dv" for number in range(5_000))
    assert wire.ask(f"GET {MAPS}?labelSelector={many}").code == 200
    assert wire.ask(f"GET {MAPS}?labelSelector=a+in+{'(' * 60_000}").code == 400
    assert wire.ask(f"GET {MAPS}?labelSelector={'!' * 60_000}").code == 400


def test_a_head_without_end_is_cut_off(wire: Wire) -> None:
    wire.socket.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n")
    try:
        for number in range(200):
            wire.socket.sendall(b"X-%d: %b\r\n" % (number, b"a" * 16_384))
    except OSError:
        pass  # cut off while we still write
    try:
        answer = wire.socket.recv(65_536)
    except OSError:
        answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "text",
    [
        b"\x00\x01\x02\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_http_ends_the_connection(wire: Wire, text: bytes) -> None:
    wire.socket.sendall(text)
    answer = b""
    while piece := wire.socket.recv(65_536):
        answer += piece
    assert answer == b"" or answer.split(b" ", 2)[1] in (b"400", b"404", b"505")


@pytest.mark.parametrize("method", ["BREW", "TRACE", "CONNECT", "OPTIONS"])
def test_other_methods_are_refused(wire: Wire, method: str) -> None:
    try:
        wire.send(f"{method} {MAPS}")
        answer = wire.socket.recv(65_536)
    except ConnectionError:
        answer = b""
    assert answer == b"" or answer.split(b" ", 2)[1] in (b"400", b"403", b"405")


@pytest.mark.parametrize(
    ("head", "headers", "code"),
    [
        (f"GET {MAPS}", {}, 403),
        ("GET /metrics", {}, 403),
        ("GET /api", {}, 403),
        ("GET /readyz", {}, 200),
        ("GET /livez", {}, 200),
        (f"GET {MAPS}", {"Authorization": "Bearer nonsense"}, 401),
        (f"GET {MAPS}", {"Authorization": "Bearer a.b.c"}, 401),
        (f"GET {MAPS}", {"Authorization": "Bearer " + "x" * 100_000}, 401),
        (f"GET {MAPS}", {"Authorization": "Basic YTpi"}, 403),
        (f"GET {MAPS}", {"Impersonate-User": "kubernetes-admin"}, 403),
    ],
)
def test_strangers_are_told_that_they_are(kubeconfig: Path, head: str, headers: dict[str, str], code: int) -> None:
    with Wire(kubeconfig, is_anonymous=True) as stranger:
        answer = stranger.ask(head, **{name.replace("-", "_"): value for name, value in headers.items()})
    assert answer.code == code
    if code != 200:
        assert answer.status["reason"] in ("Forbidden", "Unauthorized")


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (JSON, b""),
        (JSON, b"null"),
        (JSON, b"[]"),
        (JSON, b'"text"'),
        (JSON, b"1e999"),
        (JSON, b'{"metadata":[]}'),
        (JSON, b'{"metadata":{"name":{}}}'),
        (JSON, b'{"metadata":{"name":"a","labels":{"a":1}}}'),
        (YAML, b"- a"),
        (YAML, b"!!python/object:os.system {}"),
        ("application/vnd.kubernetes.protobuf", b"k8s\x00\xff\xff\xff\xff"),
        ("application/vnd.kubernetes.protobuf", b""),
        ("application/json-patch+json", b"[]"),
        ("text/plain", b"{}"),
        ("a;;;b", b"{}"),
    ],
)
def test_bodies_that_are_no_objects_are_refused(wire: Wire, media: str, body: bytes) -> None:
    answer = wire.ask(f"POST {MAPS}", body, Content_Type=media)
    assert 400 <= answer.code < 500
    assert answer.status["status"] == "Failure"
