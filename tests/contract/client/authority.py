"""A throw-away certificate authority."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dray.client.tls import ClientCertificate

__all__ = ["Authority"]

_BEGIN, _END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=36_500)


class Authority:
    """Signs certificates of servers and clients."""

    def __init__(self, name: str = "test-ca") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        self._certificate = self._build(self._name, self._key, [(constraints, True), (_usage(signs=True), True)])

    @property
    def pem(self) -> bytes:
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str, *hosts: str) -> ClientCertificate:
        """A certificate and its key; with hosts, one for a server."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName(host) if host[0].isalpha() else x509.IPAddress(ip_address(host)) for host in hosts]
        added: list[tuple[x509.ExtensionType, bool]] = [(_usage(signs=False), True)]
        if names:
            added.append((x509.SubjectAlternativeName(names), False))
        certificate = self._build(_name(name), key, added)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return ClientCertificate(certificate.public_bytes(serialization.Encoding.PEM), pem)

    def serve_as(self, folder: Path, *hosts: str) -> ssl.SSLContext:
        """What a server with these hosts uses; it takes client certificates of this authority."""
        issued = self.issue("server", *hosts)
        file = folder / "server.pem"
        file.write_bytes(issued.certificate + issued.key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=self.pem.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_cert_chain(file)
        return context

    def _build(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, added: list[tuple[x509.ExtensionType, bool]]
    ) -> x509.Certificate:
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(self._name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(_BEGIN).not_valid_after(_END)
        identifiers: list[tuple[x509.ExtensionType, bool]] = [
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False),
        ]
        for extension, is_critical in [*added, *identifiers]:
            builder = builder.add_extension(extension, critical=is_critical)
        return builder.sign(self._key, hashes.SHA256())


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
