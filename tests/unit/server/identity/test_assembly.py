from pathlib import Path

import pytest

from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.authentication.tokenreview import TokenReview, TokenReviewSpec
from dray.effects.clock import FakeClock
from dray.effects.log import MemoryLog
from dray.server.identity.assembly import ServerIdentity
from dray.server.identity.credentials import ensure_credentials, make_ssl_context
from dray.server.identity.renewal import CertificateKeeper
from dray.server.ports import User
from tests.unit.server.identity.certs import DAY, NOW, signing_key, signing_pem
from tests.unit.server.permission.still import StillView, read_manifest

ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "w", "namespace": "ml", "uid": "u-w"}}


def test_token_that_is_issued_is_known() -> None:
    identity = ServerIdentity(signing_key(), FakeClock(), static={"t": User("agent")})
    authenticator, tokens = identity(StillView([read_manifest(ACCOUNT)]))
    token = tokens.issue(TokenRequest(), ("ml", "w"), NOW, "1").status.token
    bearer = [(b"authorization", f"Bearer {token}".encode())]
    assert authenticator.identify(bearer, None).name == "system:serviceaccount:ml:w"
    assert authenticator.identify([(b"authorization", b"Bearer t")], None).name == "agent"
    assert tokens.review(TokenReview(spec=TokenReviewSpec(token=token))).status.authenticated
    assert tokens.configuration("https://h:1")["jwks_uri"] == "https://h:1/openid/v1/jwks"
    assert tokens.jwks() == signing_key().jwks()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.joinpath("sa.key").write_bytes(signing_pem())
    ensure_credentials(tmp_path, NOW, names=("dray.example",))
    return tmp_path


def keeper(folder: Path) -> tuple[CertificateKeeper, MemoryLog]:
    log = MemoryLog()
    context = make_ssl_context(ensure_credentials(folder, NOW, names=("dray.example",)))
    return CertificateKeeper(folder, context, log, names=("dray.example",)), log


def test_certificates_are_renewed_while_the_server_runs(folder: Path) -> None:
    before = folder.joinpath("apiserver.crt").read_bytes()
    kept, log = keeper(folder)
    kept.renew(NOW.plus_seconds(300 * DAY))
    assert folder.joinpath("apiserver.crt").read_bytes() == before
    kept.renew(NOW.plus_seconds(340 * DAY))
    assert folder.joinpath("apiserver.crt").read_bytes() != before
    assert log.entries == []


def test_folder_that_is_damaged_is_told_and_left(folder: Path) -> None:
    kept, log = keeper(folder)
    folder.joinpath("ca.key").write_text("damaged", encoding="utf-8")
    kept.renew(NOW)
    assert [entry.message for entry in log.entries] == ["certificates cannot be renewed"]
