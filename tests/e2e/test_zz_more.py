"""Requests that schemathesis makes up from our own OpenAPI documents: none is answered by an internal error.

Kubernetes answers a few patches that do not fit with code 500 and no reason, and so do we; what must never come is the
answer to an exception that nobody foresaw, which says `InternalError`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings

from dray.api.openapi import build_openapi, list_openapi_paths
from dray.api.registry import SERVED
from tests.e2e.servers import running_server
from tools.conformance_server import find_server

DOCUMENTS = list_openapi_paths(SERVED)


class Site(NamedTuple):
    url: str
    session: requests.Session
    certificates: Path

    def call(self, case: Any) -> Any:
        keys = self.certificates
        return case.call(
            base_url=self.url,
            session=self.session,
            timeout=30,
            verify=str(keys / "ca.crt"),
            cert=(str(keys / "admin.crt"), str(keys / "admin.key")),
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server of its own, because anything may be deleted from it."""
    folder = tmp_path_factory.mktemp("made-up")
    with running_server(folder) as (kubeconfig, _), requests.Session() as session:
        yield Site(find_server(None, None, kubeconfig).url, session, folder / "data" / "pki")


def operations(document: str) -> Iterator[Any]:
    """Every operation of a group version that can be tried without end; watches and streams have none."""
    group, _, version = document.removeprefix("apis/").removeprefix("api/").rpartition("/")
    schema = schemathesis.openapi.from_dict(build_openapi(SERVED, group, version))
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]  # our documents are in order
        if not operation.path.endswith(("/exec", "/attach", "/portforward", "/proxy")):
            yield operation


def attempt(site: Site, case: Any) -> None:
    case.query = {**(case.query or {}), "watch": "false"} if case.method == "GET" else case.query
    response = site.call(case)
    if response.status_code >= 500:
        refusal = json.loads(response.content)
        assert refusal["kind"] == "Status"
        assert refusal.get("reason") != "InternalError", (case.as_curl_command(), refusal)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_request_ends_in_an_internal_error(site: Site, document: str) -> None:
    for operation in operations(document):

        @settings(max_examples=15, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy())
        def try_out(case: Any) -> None:
            attempt(site, case)

        try_out()
