"""What goes along with every request to say who we are, kept fresh."""

import base64
from dataclasses import dataclass
from typing import Protocol

from dray.client.connection import Login
from dray.client.contents import FileContent
from dray.client.port import Unreachable
from dray.client.tls import ClientCertificate, TlsError, make_reader

__all__ = ["CertificateFiles", "Credentials", "CredentialsError", "Identity", "Token", "TokenFile", "make_credentials"]


class CredentialsError(Unreachable):
    """No credentials can be had, so nothing was sent; the message says where they should have come from."""

    def __init__(self, message: str) -> None:
        super().__init__(message, may_have_acted=False)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a request shows: a value for the Authorization header, a certificate, both, or nothing."""

    authorization: str = ""
    certificate: ClientCertificate | None = None


class Credentials(Protocol):
    """A source of identities."""

    async def get(self) -> Identity:
        """What to show now. Raises CredentialsError."""
        ...

    async def renew(self, refused: Identity) -> bool:
        """Called after the server did not know `refused`. Whether there is something else to show now."""
        ...


class Token:
    """The same for ever: a token, a name and password, or nothing."""

    def __init__(self, authorization: str = "") -> None:
        self._identity = Identity(authorization)

    async def get(self) -> Identity:
        """The one identity."""
        return self._identity

    async def renew(self, refused: Identity) -> bool:
        """There is no other."""
        return False


class TokenFile:
    """A token in a file that is rotated, as Kubernetes does with the tokens of pods."""

    def __init__(self, file: FileContent) -> None:
        self._file = file

    async def get(self) -> Identity:
        """The token that is in the file now."""
        try:
            token = self._file.read().decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as fault:
            raise CredentialsError(f"token file {self._file.path}: {fault}") from fault
        if not token:
            raise CredentialsError(f"token file {self._file.path}: is empty")
        return Identity(f"Bearer {token}")

    async def renew(self, refused: Identity) -> bool:
        """Whether the file was changed while the request was on its way."""
        return await self.get() != refused


class CertificateFiles:
    """A client certificate, possibly in files that are rotated, and what another source adds to it."""

    def __init__(self, login: Login, added: Credentials) -> None:
        self._certificate = make_reader("client certificate", login.certificate)
        self._key = make_reader("client key", login.key)
        self._added = added

    async def get(self) -> Identity:
        """The certificate as it is now."""
        identity = await self._added.get()
        if self._certificate is None or self._key is None or identity.certificate is not None:
            return identity
        try:
            shown = ClientCertificate(self._certificate.read(), self._key.read())
        except TlsError as fault:
            raise CredentialsError(str(fault)) from fault
        return Identity(identity.authorization, shown)

    async def renew(self, refused: Identity) -> bool:
        """Whether a file was changed, or the other source has something new."""
        return await self._added.renew(refused) or await self.get() != refused


def make_credentials(login: Login, plugin: Credentials | None = None) -> Credentials:
    """The source for a login. `plugin` runs the login's plugin, where it has one."""
    source: Credentials
    if login.token_file is not None:
        source = TokenFile(FileContent(login.token_file))
    elif login.token:
        source = Token(f"Bearer {login.token}")
    elif login.username or login.password:
        pair = base64.b64encode(f"{login.username}:{login.password}".encode()).decode("ascii")
        source = Token(f"Basic {pair}")
    else:
        source = plugin or Token()
    return CertificateFiles(login, source) if login.certificate is not None else source
