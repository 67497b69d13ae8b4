"""The files that make a server who it is: authority, certificates, and the key that signs tokens.

All lie in the folder `pki` of the data directory, under the names kubeadm uses. What is missing or near its end is made
anew; the authority keeps its key for good, so certificates and kubeconfigs outlive its renewal. Private keys can be
read by their owner alone and are written whole or not at all.
"""

import os
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from dray.client.nodeendpoint import SERVER_USER
from dray.errors import DrayError
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
from dray.server.identity.signing import SigningKey, make_signing_key
from dray.values.times import Time

__all__ = [
    "Credentials",
    "CredentialsError",
    "ensure_client",
    "ensure_credentials",
    "load_server_certificate",
    "make_ssl_context",
    "write_private",
]

ADMIN = ("kubernetes-admin", ("system:masters",))
"""User and groups of the administrator's certificate."""


class CredentialsError(DrayError):
    """A file is there but cannot be used."""


class Credentials(Struct, frozen=True):
    """What a server needs to be believed, and to know whom to believe."""

    folder: Path
    authority: KeyPair
    server: KeyPair
    admin: KeyPair
    node_client: KeyPair
    """Shown to node agents that run apart."""
    signing_key: SigningKey


def ensure_credentials(folder: Path, now: Time, *, names: Sequence[str] = ()) -> Credentials:
    """Read all files of the folder, making or renewing what is needed. May be repeated, and is cheap if nothing is.

    The server certificate is good for loopback and for `names`, which may be addresses.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    authority = _ensure_authority(folder, now)
    wanted = (*LOOPBACK_NAMES, *names)
    server = _ensure(
        _PairFiles(folder, "apiserver"),
        lambda pair: is_fresh(pair, authority, now) and serves_names(pair, wanted),
        lambda: issue_server(authority, wanted, now),
    )
    admin = ensure_client(folder, authority, "admin", ADMIN, now)
    node_client = ensure_client(folder, authority, "apiserver-kubelet-client", (SERVER_USER, ()), now)
    return Credentials(folder, authority, server, admin, node_client, _ensure_signing_key(folder))


def ensure_client(
    folder: Path, authority: KeyPair, file: str, identity: tuple[str, Sequence[str]], now: Time
) -> KeyPair:
    """The client certificate kept under this name, for a user and their groups."""
    user, groups = identity
    return _ensure(
        _PairFiles(folder, file),
        lambda pair: is_fresh(pair, authority, now),
        lambda: issue_client(authority, user, groups, now),
    )


def make_ssl_context(credentials: Credentials) -> ssl.SSLContext:
    """How the server speaks TLS: it shows its certificate, and verifies a client's if there is one.

    A client certificate of another authority ends the handshake.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(cadata=credentials.authority.certificate.decode())
    context.set_alpn_protocols(["http/1.1"])
    load_server_certificate(context, credentials)
    return context


def load_server_certificate(context: ssl.SSLContext, credentials: Credentials) -> None:
    """Show the certificate as it is in the folder now, on connections made from now on."""
    files = _PairFiles(credentials.folder, "apiserver")
    context.load_cert_chain(files.certificate, files.key)


class _PairFiles(Struct, frozen=True):
    """Where a certificate and its key are."""

    folder: Path
    name: str

    @property
    def certificate(self) -> Path:
        return self.folder / f"{self.name}.crt"

    @property
    def key(self) -> Path:
        return self.folder / f"{self.name}.key"

    def read(self) -> KeyPair | None:
        """The pair, or None if one half is missing."""
        try:
            return KeyPair(self.certificate.read_bytes(), self.key.read_bytes())
        except FileNotFoundError:
            return None

    def write(self, pair: KeyPair) -> None:
        """The key first: a certificate without its key would be of no use."""
        write_private(self.key, pair.key)
        write_private(self.certificate, pair.certificate)


def _ensure(files: _PairFiles, is_good: Callable[[KeyPair], bool], make: Callable[[], KeyPair]) -> KeyPair:
    pair = files.read()
    try:
        if pair is not None and is_good(pair):
            return pair
    except CertificateError as error:
        raise CredentialsError(
            f"{files.certificate} or its key: {error}; delete both to have them made anew"
        ) from error
    pair = make()
    files.write(pair)
    return pair


def _ensure_authority(folder: Path, now: Time) -> KeyPair:
    files = _PairFiles(folder, "ca")
    try:
        key: bytes | None = files.key.read_bytes()
    except FileNotFoundError:
        key = None
        if files.certificate.exists():
            # A new authority would lock out everyone who trusts the old one, and that must not happen by accident.
            raise CredentialsError(f"{files.key} is missing: put it back, or delete {files.certificate} too") from None
    return _ensure(files, lambda pair: is_fresh(pair, pair, now), lambda: make_authority(now, key=key))


def _ensure_signing_key(folder: Path) -> SigningKey:
    file = folder / "sa.key"
    try:
        return SigningKey(file.read_bytes())
    except FileNotFoundError:
        pem = make_signing_key()
    except ValueError as error:
        raise CredentialsError(f"{file}: {error}; delete it to have one made, which ends all tokens") from error
    write_private(file, pem)
    return SigningKey(pem)


def write_private(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    draft = file.with_name(f".{file.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
