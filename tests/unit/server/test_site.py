"""Paths that are no resource."""

import asyncio
import json
from typing import Any

import jwt
import pytest

from tests.cases.server.access.test_access import open_server
from tests.golden.server.asgi import Answer, Asked

ADMIN = {"authorization": "Bearer the-admin", "host": "dray.example:6443"}
TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"


async def ask(*requests: Asked) -> list[Answer]:
    async with open_server() as server:
        return [await server.ask(each) for each in requests]


def get(path: str, **headers: str) -> Answer:
    (answer,) = asyncio.run(ask(Asked("GET", path, headers=ADMIN | headers)))
    return answer


def test_what_there_is_is_listed() -> None:
    paths = get("/").json["paths"]
    assert paths == sorted(paths)
    assert {"/api/v1", "/apis/resource.k8s.io", "/apis/resource.k8s.io/v1", "/openapi/v3", "/version"} <= set(paths)


@pytest.mark.parametrize("path", ["/api/v2", "/api/v2/pods", "/apis/resource.k8s.io/v9", "/apis/resource.k8s.io/v9/x"])
def test_a_version_that_is_not_there_is_told_as_a_status(path: str) -> None:
    answer = get(path)
    assert (answer.code, answer.json["reason"], answer.json["details"]) == (404, "NotFound", {})


@pytest.mark.parametrize("path", ["/nothing", "/apis/nothing", "/apis/nothing/v1/x", "/apis//v1"])
def test_a_path_that_is_not_there_is_told_as_text(path: str) -> None:
    answer = get(path)
    assert (answer.code, answer.body) == (404, b"404 page not found\n")


def test_the_old_openapi_document_is_there_for_those_who_take_json() -> None:
    document = get("/openapi/v2", accept="application/json")
    assert (document.code, document.json["swagger"]) == (200, "2.0")
    assert "/api/v1/namespaces/{namespace}/pods" in document.json["paths"]
    protobuf = get("/openapi/v2", accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
    assert protobuf.all("content-type") == ["application/com.github.proto-openapi.spec.v2.v1.0+protobuf"]
    assert get("/openapi/v2", accept="text/html").code == 404


def test_tokens_can_be_verified_by_what_is_published() -> None:
    account = Asked(
        "POST",
        "/api/v1/namespaces/default/serviceaccounts",
        {"metadata": {"name": "default"}},
        ADMIN | {"content-type": "application/json"},
    )
    request = Asked("POST", TOKEN, {"spec": {}}, ADMIN | {"content-type": "application/json"})
    configured = Asked("GET", "/.well-known/openid-configuration", headers=ADMIN)
    keys = Asked("GET", "/openid/v1/jwks", headers=ADMIN)
    _, issued, configuration, published = asyncio.run(ask(account, request, configured, keys))
    assert configuration.json["jwks_uri"] == "https://dray.example:6443/openid/v1/jwks"
    assert published.all("content-type") == ["application/jwk-set+json"]
    token: str = issued.json["status"]["token"]
    key: Any = jwt.PyJWKSet.from_dict(json.loads(published.body))[jwt.get_unverified_header(token)["kid"]]
    issuer = configuration.json["issuer"]
    claims = jwt.decode(token, key, algorithms=["RS256"], audience=issuer, issuer=issuer)
    assert claims["sub"] == "system:serviceaccount:default:default"


def test_strangers_read_neither_keys_nor_paths() -> None:
    answers = asyncio.run(ask(*(Asked("GET", path) for path in ("/", "/openid/v1/jwks", "/openapi/v2"))))
    assert [each.code for each in answers] == [403, 403, 403]
