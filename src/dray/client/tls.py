"""TLS as the client uses it: who may speak for the server, and the certificate we show."""

import ssl
import tempfile
from dataclasses import dataclass

from dray.client.connection import Pem, Trust
from dray.client.contents import FileContent
from dray.client.port import Unreachable

__all__ = ["ClientCertificate", "PemReader", "TlsContexts", "TlsError", "make_reader"]


class TlsError(Unreachable):
    """A certificate, key or authority cannot be used, so nothing was sent."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint, may_have_acted=False)


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """What we show the server, as PEM texts."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class PemReader:
    """One PEM text that may change."""

    what: str
    source: bytes | FileContent

    def read(self) -> bytes:
        """What it holds now. Raises TlsError where there is no such file."""
        if isinstance(self.source, bytes):
            return self.source
        try:
            return self.source.read()
        except OSError as fault:
            raise TlsError(f"{self.what} {self.source.path}: {fault.strerror}") from fault


def make_reader(what: str, pem: Pem | None) -> PemReader | None:
    """Reads a PEM text now and again; `what` names it in errors."""
    if pem is None:
        return None
    return PemReader(what, pem if isinstance(pem, bytes) else FileContent(pem))


class TlsContexts:
    """The context for the next connection. The same one as long as no file and no certificate changes.

    Connections made with an old context stay with it, so a rotated authority or certificate counts from the next
    connection on.
    """

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self._authority = make_reader("certificate authority", trust.authority)
        self._made_of: tuple[bytes | None, ClientCertificate | None] | None = None
        self._context: ssl.SSLContext | None = None

    def get(self, shown: ClientCertificate | None) -> ssl.SSLContext:
        """Raises TlsError where something is no certificate or no key, or the two do not belong together."""
        made_of = (self._authority.read() if self._authority else None, shown)
        if self._context is None or made_of != self._made_of:
            self._context = self._make(*made_of)
            self._made_of = made_of
        return self._context

    def _make(self, authority: bytes | None, shown: ClientCertificate | None) -> ssl.SSLContext:
        context = ssl.create_default_context() if authority is None else _trust_only(authority)
        context.set_alpn_protocols(["http/1.1"])
        if not self._trust.is_verified:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if shown is not None:
            _show(context, shown)
        return context


def _trust_only(authority: bytes) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cadata=authority.decode("ascii"))
    except (ssl.SSLError, UnicodeDecodeError, ValueError) as fault:
        raise TlsError("certificate authority: holds no certificate in PEM form") from fault


def _show(context: ssl.SSLContext, shown: ClientCertificate) -> None:
    # The ssl module loads keys from files only; this one is private to us and gone at once.
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(shown.certificate + b"\n" + shown.key)
        file.flush()
        try:
            context.load_cert_chain(file.name, password=_refuse_password)
        except (ssl.SSLError, ValueError, OSError) as fault:
            raise TlsError(
                "client certificate: certificate and key cannot be used together; "
                "both must be in PEM form, belong together, and the key must not be encrypted"
            ) from fault


def _refuse_password() -> str:
    raise ValueError("the key is encrypted")
