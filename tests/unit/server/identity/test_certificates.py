import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from dray.server.identity.certificates import (
    LOOPBACK_NAMES,
    CertificateError,
    KeyPair,
    is_fresh,
    issue_client,
    issue_server,
    make_authority,
    serves_names,
)
from tests.unit.server.identity.certs import DAY, NOW, authority


def load(pair: KeyPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate)


def test_client_certificate_names_user_and_groups() -> None:
    certificate = load(issue_client(authority(), "ada", ("team", "system:masters"), NOW))
    assert certificate.subject.rfc4514_string() == "CN=ada,O=system:masters,O=team"
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_server_certificate_serves_names_and_addresses() -> None:
    pair = issue_server(authority(), (*LOOPBACK_NAMES, "dray.example", "10.0.0.1"), NOW)
    assert serves_names(pair, ("localhost", "127.0.0.1", "::1", "dray.example", "10.0.0.1"))
    assert not serves_names(pair, ("10.0.0.2",))
    assert not serves_names(issue_client(authority(), "ada", (), NOW), ("localhost",))


def test_what_is_issued_verifies_against_its_authority() -> None:
    assert is_fresh(issue_client(authority(), "ada", (), NOW), authority(), NOW)


def test_certificate_of_another_authority_is_not_ours() -> None:
    assert not is_fresh(issue_client(make_authority(NOW), "ada", (), NOW), authority(), NOW)


def test_certificate_is_renewed_a_month_before_its_end() -> None:
    pair = issue_client(authority(), "ada", (), NOW)
    assert is_fresh(pair, authority(), NOW.plus_seconds(334 * DAY))
    assert not is_fresh(pair, authority(), NOW.plus_seconds(336 * DAY))


def test_no_certificate_outlives_its_authority() -> None:
    late = NOW.plus_seconds(3600 * DAY)
    certificate = load(issue_client(authority(), "ada", (), late))
    assert certificate.not_valid_after_utc == load(authority()).not_valid_after_utc


def test_what_was_issued_outlives_the_renewal_of_an_authority_that_keeps_its_key() -> None:
    pair = issue_client(authority(), "ada", (), NOW)
    assert is_fresh(pair, make_authority(NOW.plus_seconds(DAY), key=authority().key), NOW)


def test_key_of_somebody_else_does_not_fit() -> None:
    one, other = issue_client(authority(), "ada", (), NOW), issue_client(authority(), "bob", (), NOW)
    assert not is_fresh(KeyPair(one.certificate, other.key), authority(), NOW)


def test_damaged_files_are_named() -> None:
    with pytest.raises(CertificateError):
        is_fresh(KeyPair(b"no", authority().key), authority(), NOW)
    with pytest.raises(CertificateError):
        is_fresh(KeyPair(authority().certificate, b"no"), authority(), NOW)
