from pathlib import Path

import pytest

from dray.effects.log import MemoryLog
from dray.server.identity.credentials import ensure_credentials, make_ssl_context
from dray.server.identity.renewal import CertificateKeeper
from tests.unit.server.identity.certs import DAY, NOW, signing_pem


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
