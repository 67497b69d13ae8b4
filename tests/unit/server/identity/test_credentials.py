import ssl
import stat
from pathlib import Path

import pytest
import yaml

from dray.server.identity.credentials import CredentialsError, ensure_credentials, make_ssl_context
from dray.server.identity.kubeconfig import Access, render_kubeconfig, write_kubeconfig
from tests.unit.server.identity.certs import DAY, NOW, authority, signing_pem

PAIRS = [f"{name}.{kind}" for name in ("admin", "apiserver-kubelet-client", "apiserver") for kind in ("crt", "key")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that has a signing key already: making one takes long."""
    tmp_path.joinpath("sa.key").write_bytes(signing_pem())
    return tmp_path


def test_everything_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "pki"
    first = ensure_credentials(folder, NOW)
    names = sorted(file.name for file in folder.iterdir())
    assert names == [*PAIRS, "ca.crt", "ca.key", "sa.key"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    again = ensure_credentials(folder, NOW.plus_seconds(DAY))
    assert (again.authority, again.server, again.admin) == (first.authority, first.server, first.admin)
    assert again.signing_key.id == first.signing_key.id


def test_server_certificate_follows_the_names_asked_for(folder: Path) -> None:
    first = ensure_credentials(folder, NOW)
    second = ensure_credentials(folder, NOW, names=("dray.example",))
    assert second.server != first.server
    assert second.admin == first.admin
    assert ensure_credentials(folder, NOW).server == second.server


def test_certificates_are_renewed_before_they_end(folder: Path) -> None:
    first = ensure_credentials(folder, NOW)
    later = ensure_credentials(folder, NOW.plus_seconds(340 * DAY))
    assert later.authority == first.authority
    assert later.server != first.server
    assert later.admin != first.admin


def test_authority_is_renewed_with_the_key_it_had(folder: Path) -> None:
    first = ensure_credentials(folder, NOW)
    later = ensure_credentials(folder, NOW.plus_seconds(3640 * DAY))
    assert later.authority.certificate != first.authority.certificate
    assert later.authority.key == first.authority.key


@pytest.mark.parametrize("name", ["ca.crt", "apiserver.key", "sa.key"])
def test_damaged_file_is_named_and_kept(folder: Path, name: str) -> None:
    ensure_credentials(folder, NOW)
    folder.joinpath(name).write_text("damaged", encoding="utf-8")
    with pytest.raises(CredentialsError, match=name.split(".")[0]):
        ensure_credentials(folder, NOW)
    assert folder.joinpath(name).read_text(encoding="utf-8") == "damaged"


def test_authority_without_its_key_is_not_replaced(folder: Path) -> None:
    first = ensure_credentials(folder, NOW)
    folder.joinpath("ca.key").unlink()
    with pytest.raises(CredentialsError, match="put it back"):
        ensure_credentials(folder, NOW)
    folder.joinpath("ca.key").write_bytes(first.authority.key)
    assert ensure_credentials(folder, NOW).admin == first.admin


def test_authority_whose_writing_was_cut_short_keeps_its_key(folder: Path) -> None:
    first = ensure_credentials(folder, NOW)
    folder.joinpath("ca.crt").unlink()
    assert ensure_credentials(folder, NOW).authority.key == first.authority.key


def test_context_asks_for_client_certificates_and_does_not_insist(folder: Path) -> None:
    context = make_ssl_context(ensure_credentials(folder, NOW))
    assert context.verify_mode is ssl.CERT_OPTIONAL
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_kubeconfig_embeds_everything(tmp_path: Path) -> None:
    file = tmp_path / "admin.conf"
    write_kubeconfig(file, Access("https://127.0.0.1:6443", authority().certificate, client=authority()))
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert set(config["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}
    assert config["current-context"] == config["contexts"][0]["name"] == "kubernetes-admin@dray"


def test_kubeconfig_can_hold_a_token_instead() -> None:
    config = yaml.safe_load(render_kubeconfig(Access("https://h", b"", user="agent", token="t")))
    assert config["users"] == [{"name": "agent", "user": {"token": "t"}}]
