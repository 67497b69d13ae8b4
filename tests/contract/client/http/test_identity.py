"""Who the server is, and who we are."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from dray.api.core.kinds import CONFIG_MAP
from dray.client.connection import Connection, ExecPlugin, Login, Trust
from dray.client.credentials import CredentialsError
from dray.client.http import HttpClient, Surroundings, open_http_client
from dray.client.port import ObjectName, Unreachable
from dray.client.tls import TlsError
from dray.client.transport import HttpLimits
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.errors import Unauthorized
from tests.contract.client.authority import Authority
from tests.contract.client.objects import config_map
from tests.contract.client.rawserver import RawServer, reply, serve_raw

A = ObjectName("a", "default")
THING = reply(200, b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"}}')
UNKNOWN = reply(401, b'{"kind":"Status","status":"Failure","reason":"Unauthorized","code":401}')
AUTHORITY = Authority()

PLUGIN = """
import json, os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
runs = folder / "runs"
runs.write_text(str(int(runs.read_text() or 0) + 1) if runs.exists() else "1")
(folder / "asked").write_text(os.environ["KUBERNETES_EXEC_INFO"])
print(os.environ["ANSWER"].replace("RUNS", runs.read_text()))
sys.exit(int(os.environ.get("STATUS", 0)))
"""
V1 = "client.authentication.k8s.io/v1"
TOKEN = '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"token-RUNS"}}'
EMPTY = '{"kind":"ExecCredential","apiVersion":"%s","status":{}}'
LASTING = '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"t-RUNS","expirationTimestamp":"%s"}}'


@asynccontextmanager
async def client_of(connection: Connection, clock: FakeClock | None = None) -> AsyncGenerator[HttpClient, None]:
    surroundings = Surroundings(clock or FakeClock(), SeededEntropy(1), {"PATH": "/nowhere"})
    async with open_http_client(connection, surroundings, HttpLimits(attempts=1)) as client:
        yield client


def authorizations(server: RawServer) -> list[str | None]:
    return [request.headers.get("authorization") for request in server.requests]


async def test_the_server_proves_who_it_is(tmp_path: Path) -> None:
    async with serve_raw([THING], AUTHORITY.serve_as(tmp_path, "127.0.0.1")) as server:
        async with client_of(Connection(server.url, trust=Trust(AUTHORITY.pem))) as client:
            assert (await client.get(CONFIG_MAP, A)).metadata.name == "a"
        async with client_of(Connection(server.url, trust=Trust(Authority("another").pem))) as client:
            with pytest.raises(TlsError, match="not trusted"):
                await client.get(CONFIG_MAP, A)
        async with client_of(Connection(server.url, trust=Trust(is_verified=False))) as client:
            assert (await client.get(CONFIG_MAP, A)).metadata.name == "a"
        assert server.certificates == []


async def test_the_server_may_have_another_name(tmp_path: Path) -> None:
    async with serve_raw([THING], AUTHORITY.serve_as(tmp_path, "api.example")) as server:
        async with client_of(Connection(server.url, trust=Trust(AUTHORITY.pem, "api.example"))) as client:
            await client.get(CONFIG_MAP, A)
        async with client_of(Connection(server.url, trust=Trust(AUTHORITY.pem))) as client:
            with pytest.raises(TlsError):
                await client.get(CONFIG_MAP, A)


async def test_we_show_a_certificate_and_the_next_one_when_it_is_replaced(tmp_path: Path) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def rotate(name: str) -> None:
        issued = AUTHORITY.issue(name)
        certificate.write_bytes(issued.certificate)
        key.write_bytes(issued.key)

    rotate("alice")
    login = Login(certificate=certificate, key=key)
    async with (
        serve_raw([THING], AUTHORITY.serve_as(tmp_path, "127.0.0.1")) as server,
        client_of(Connection(server.url, trust=Trust(AUTHORITY.pem), login=login)) as client,
    ):
        await client.get(CONFIG_MAP, A)
        await client.get(CONFIG_MAP, A)
        rotate("alice-renewed")
        await client.get(CONFIG_MAP, A)
    assert server.certificates == ["alice", "alice-renewed"]


async def test_a_key_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    login = Login(certificate=AUTHORITY.issue("alice").certificate, key=AUTHORITY.issue("bob").key)
    async with serve_raw([THING], AUTHORITY.serve_as(tmp_path, "127.0.0.1")) as server:
        async with client_of(Connection(server.url, trust=Trust(AUTHORITY.pem), login=login)) as client:
            with pytest.raises(TlsError, match="cannot be used together"):
                await client.get(CONFIG_MAP, A)
        assert server.requests == []


async def test_tls_is_expected_where_there_is_none() -> None:
    def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with client_of(Connection(f"https://127.0.0.1:{port}", trust=Trust(AUTHORITY.pem))) as client:
            with pytest.raises(Unreachable, match="TLS") as caught:
                await client.create(CONFIG_MAP, config_map("a"))
    assert not caught.value.may_have_acted


@pytest.mark.parametrize(
    ("login", "want"),
    [
        (Login(), None),
        (Login(token="abc"), "Bearer abc"),
        (Login(username="ann", password="p:w"), "Basic YW5uOnA6dw=="),
    ],
    ids=["nobody", "token", "password"],
)
async def test_credentials_that_stay(login: Login, want: str | None) -> None:
    async with serve_raw([UNKNOWN]) as server, client_of(Connection(server.url, login=login)) as client:
        with pytest.raises(Unauthorized):
            await client.get(CONFIG_MAP, A)
        assert authorizations(server) == [want]


async def test_token_files_are_read_again_when_they_change(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    login = Login(token="ignored", token_file=file)
    async with serve_raw([THING]) as server, client_of(Connection(server.url, login=login)) as client:
        await client.get(CONFIG_MAP, A)
        file.write_text("the second\n")
        await client.get(CONFIG_MAP, A)
        file.unlink()  # while it is being replaced
        await client.get(CONFIG_MAP, A)
        assert authorizations(server) == ["Bearer first", "Bearer the second", "Bearer the second"]


async def test_a_missing_token_file_is_told(tmp_path: Path) -> None:
    login = Login(token_file=tmp_path / "token")
    async with serve_raw([THING]) as server, client_of(Connection(server.url, login=login)) as client:
        with pytest.raises(CredentialsError, match="token file"):
            await client.get(CONFIG_MAP, A)


async def test_impersonation_goes_along() -> None:
    login = Login(token="abc", impersonation=(("Impersonate-User", "bob"), ("Impersonate-Group", "ops")))
    async with serve_raw([THING]) as server, client_of(Connection(server.url, login=login)) as client:
        await client.get(CONFIG_MAP, A)
        headers = server.requests[0].headers
        assert (headers["impersonate-user"], headers["impersonate-group"]) == ("bob", "ops")


def plugin_in(folder: Path, answer: str, **added: str) -> ExecPlugin:
    script = folder / "plugin.py"
    script.write_text(PLUGIN)
    environment: Mapping[str, str] = {"ANSWER": answer, **added}
    api_version = added.pop("version", V1)
    return ExecPlugin(api_version, sys.executable, (str(script), str(folder)), environment, "install it first")


@pytest.mark.parametrize("version", [V1, "client.authentication.k8s.io/v1beta1"])
async def test_a_plugin_runs_once_and_again_when_it_is_refused(tmp_path: Path, version: str) -> None:
    login = Login(plugin=plugin_in(tmp_path, TOKEN % version, version=version))
    answers = [THING, THING, UNKNOWN, THING]
    async with serve_raw(answers) as server, client_of(Connection(server.url, login=login)) as client:
        for _ in range(3):
            await client.get(CONFIG_MAP, A)
        assert authorizations(server) == ["Bearer token-1", "Bearer token-1", "Bearer token-1", "Bearer token-2"]


async def test_a_refusal_that_lasts_is_told(tmp_path: Path) -> None:
    login = Login(plugin=plugin_in(tmp_path, TOKEN % V1))
    async with serve_raw([UNKNOWN]) as server, client_of(Connection(server.url, login=login)) as client:
        with pytest.raises(Unauthorized):
            await client.get(CONFIG_MAP, A)
        assert len(server.requests) == 2


async def test_a_plugin_runs_again_when_its_token_expires(tmp_path: Path) -> None:
    login = Login(plugin=plugin_in(tmp_path, LASTING % (V1, "2026-01-01T00:05:00Z")))
    clock = FakeClock()
    async with serve_raw([THING]) as server, client_of(Connection(server.url, login=login), clock) as client:
        await client.get(CONFIG_MAP, A)
        await clock.advance(280)
        await client.get(CONFIG_MAP, A)
        await clock.advance(15)
        await client.get(CONFIG_MAP, A)
        assert authorizations(server) == ["Bearer t-1", "Bearer t-1", "Bearer t-2"]


async def test_a_plugin_may_give_a_certificate(tmp_path: Path) -> None:
    issued = AUTHORITY.issue("plugged")
    status = {"clientCertificateData": issued.certificate.decode(), "clientKeyData": issued.key.decode()}
    answer = json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": status})
    connection_to = plugin_in(tmp_path, answer)
    async with serve_raw([THING], AUTHORITY.serve_as(tmp_path, "127.0.0.1")) as server:
        connection = Connection(server.url, trust=Trust(AUTHORITY.pem), login=Login(plugin=connection_to))
        async with client_of(connection) as client:
            await client.get(CONFIG_MAP, A)
    assert server.certificates == ["plugged"]


async def test_a_plugin_is_told_of_the_cluster(tmp_path: Path) -> None:
    plugin = plugin_in(tmp_path, TOKEN % V1)
    told = replace(plugin, gets_cluster=True, cluster=b'{"server":"https://api.example"}')
    async with serve_raw([THING]) as server, client_of(Connection(server.url, login=Login(plugin=told))) as client:
        await client.get(CONFIG_MAP, A)
    asked = json.loads((tmp_path / "asked").read_text())
    assert asked["spec"] == {"interactive": False, "cluster": {"server": "https://api.example"}}
    assert (asked["kind"], asked["apiVersion"]) == ("ExecCredential", V1)


@pytest.mark.parametrize(
    ("answer", "status", "want"),
    [
        ("nonsense", "0", "printed no ExecCredential"),
        (TOKEN % V1, "3", "ended with status 3"),
        (EMPTY % V1, "0", "neither a token nor a certificate"),
        (TOKEN % "client.authentication.k8s.io/v1beta1", "0", "but printed ExecCredential of"),
        (LASTING % (V1, "tomorrow"), "0", "is no time"),
    ],
    ids=["nonsense", "failure", "empty", "another version", "no time"],
)
async def test_a_plugin_that_fails_is_told(tmp_path: Path, answer: str, status: str, want: str) -> None:
    login = Login(plugin=plugin_in(tmp_path, answer, STATUS=status))
    async with serve_raw([THING]) as server, client_of(Connection(server.url, login=login)) as client:
        with pytest.raises(CredentialsError, match=want):
            await client.get(CONFIG_MAP, A)
        assert server.requests == []


async def test_a_plugin_that_is_missing_says_how_to_get_it() -> None:
    login = Login(plugin=ExecPlugin(V1, "dray-no-such-plugin", install_hint="install it first"))
    async with client_of(Connection("http://127.0.0.1:1", login=login)) as client:
        with pytest.raises(CredentialsError, match="install it first"):
            await client.get(CONFIG_MAP, A)


async def test_a_proxy_carries_requests() -> None:
    async with serve_raw([THING]) as proxy:
        connection = Connection("http://api.example:8080", proxy=proxy.url.replace("//", "//ann:secret@"))
        async with client_of(connection) as client:
            await client.get(CONFIG_MAP, A)
        assert proxy.requests[0].target.startswith("http://api.example:8080/api/v1/namespaces/default/")
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic YW5uOnNlY3JldA=="


async def test_a_proxy_that_refuses_is_told() -> None:
    async with serve_raw([reply(407)]) as proxy:
        connection = Connection("https://api.example", proxy=proxy.url.replace("//", "//ann:secret@"))
        async with client_of(connection) as client:
            with pytest.raises(Unreachable, match="the proxy") as caught:
                await client.get(CONFIG_MAP, A)
        assert "secret" not in str(caught.value)
