"""Certificates: an authority of our own, and what it issues. Pure, but for the chance that makes keys.

Keys are on the curve P-256: handshakes cost a fraction of what they cost with RSA. Everything is PEM, as files and
kubeconfigs hold it.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from dray.errors import DrayError
from dray.values.times import Time

__all__ = [
    "LOOPBACK_NAMES",
    "CertificateError",
    "KeyPair",
    "is_fresh",
    "issue_client",
    "issue_server",
    "make_authority",
    "serves_names",
]

LOOPBACK_NAMES: Final = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "127.0.0.1",
    "::1",
)
"""Names and addresses that every server certificate is good for."""

_AUTHORITY_DAYS = 3650
_LEAF_DAYS = 365
_RENEW_DAYS = 30
"""So long before its end a certificate is issued anew."""
_SKEW = timedelta(minutes=5)
"""Certificates hold from a little before they were made: clocks of clients may lag."""

_KEY_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


class CertificateError(DrayError):
    """A certificate or key cannot be read."""


class KeyPair(Struct, frozen=True):
    """A certificate and the private key that belongs to it, in PEM."""

    certificate: bytes
    key: bytes


def make_authority(now: Time, *, key: bytes | None = None) -> KeyPair:
    """A certificate that signs others, with a new key or the one given.

    With the key it had before, what was issued under the old certificate stays good.
    """
    private = ec.generate_private_key(ec.SECP256R1()) if key is None else _load_key(key)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "dray-ca")])
    builder = _builder(name, name, private.public_key(), now).not_valid_after(_days_after(now, _AUTHORITY_DAYS))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_usage("digital_signature", "key_cert_sign", "crl_sign"), critical=True)
    return _pair(builder.sign(private, hashes.SHA256()), private)


def issue_server(authority: KeyPair, names: Sequence[str], now: Time) -> KeyPair:
    """A certificate for a server that is reached under these names and addresses."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "dray-apiserver")])
    alternatives = x509.SubjectAlternativeName([_general_name(name) for name in dict.fromkeys(names)])
    return _issue(authority, subject, now, (ExtendedKeyUsageOID.SERVER_AUTH, alternatives))


def issue_client(authority: KeyPair, user: str, groups: Sequence[str], now: Time) -> KeyPair:
    """A certificate for a user who is a member of these groups."""
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])
    return _issue(authority, subject, now, (ExtendedKeyUsageOID.CLIENT_AUTH, None))


def is_fresh(pair: KeyPair, authority: KeyPair, now: Time) -> bool:
    """Whether the authority issued it, the key belongs to it, and its end is not near."""
    certificate = _load_certificate(pair.certificate)
    if certificate.not_valid_after_utc - now.to_datetime() < timedelta(days=_RENEW_DAYS):
        return False
    if certificate.public_key() != _load_key(pair.key).public_key():
        return False
    try:
        certificate.verify_directly_issued_by(_load_certificate(authority.certificate))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def serves_names(pair: KeyPair, names: Sequence[str]) -> bool:
    """Whether a server certificate is good for all these names and addresses."""
    extensions = _load_certificate(pair.certificate).extensions
    try:
        known = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    return set(map(_general_name, names)) <= set(known)


def _issue(
    authority: KeyPair,
    subject: x509.Name,
    now: Time,
    purpose: tuple[x509.ObjectIdentifier, x509.SubjectAlternativeName | None],
) -> KeyPair:
    issuer, issuer_key = _load_certificate(authority.certificate), _load_key(authority.key)
    private = ec.generate_private_key(ec.SECP256R1())
    usage, alternatives = purpose
    end = min(_days_after(now, _LEAF_DAYS), issuer.not_valid_after_utc)
    builder = _builder(subject, issuer.subject, private.public_key(), now).not_valid_after(end)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage("digital_signature"), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    builder = builder.add_extension(issuer_id, critical=False)
    if alternatives is not None:
        builder = builder.add_extension(alternatives, critical=False)
    return _pair(builder.sign(issuer_key, hashes.SHA256()), private)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: Time
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now.to_datetime() - _SKEW)
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)


def _days_after(now: Time, days: int) -> datetime:
    return now.to_datetime() + timedelta(days=days)


def _usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: name in allowed for name in _KEY_USAGES})


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyPair(certificate.public_bytes(Encoding.PEM), pem)


def _load_certificate(pem: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError as error:
        raise CertificateError(f"no certificate: {error}") from error


def _load_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError) as error:
        raise CertificateError(f"no private key: {error}") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise CertificateError("the private key is not one of an elliptic curve")
    return key
