"""The user of a connection: what the client certificate says, which TLS has verified.

uvicorn tells an application nothing of the certificate. `PeerProtocol` does: it finds the user once, when a connection
is made, and puts it into the state that uvicorn copies into the scope of each request. Give it to uvicorn as `http`,
and read `find_peer(scope)`.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dray.server.identity.accounts import AUTHENTICATED
from dray.server.ports import User

__all__ = ["PeerProtocol", "find_peer", "user_of_subject"]

_STATE: Final = "dray.peer"

Subject = Iterable[Iterable[tuple[str, str]]]
"""As `ssl` gives it: relative names, each of which may have several attributes."""


class PeerProtocol(HttpToolsProtocol):
    """HTTP/1.1 by httptools, with the user of the client certificate in the state of every request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Find the user, once for all requests of the connection."""
        super().connection_made(transport)
        certificate: Mapping[str, Any] | None = transport.get_extra_info("peercert")
        if certificate:
            self.app_state = {**self.app_state, _STATE: user_of_subject(certificate.get("subject", ()))}


def find_peer(scope: Mapping[str, Any]) -> User | None:
    """The user of the certificate a request came with, or None."""
    state = scope.get("state")
    peer = state.get(_STATE) if state else None
    return peer if isinstance(peer, User) else None


def user_of_subject(subject: Subject) -> User | None:
    """The user a certificate is for: the common name, in the groups of its organizations. None without a name."""
    name, groups = "", []
    for attributes in subject:
        for key, value in attributes:
            if key == "commonName":
                name = value
            elif key == "organizationName":
                groups.append(value)
    if not name:
        return None
    return User(name, groups=(*groups, AUTHENTICATED) if AUTHENTICATED not in groups else tuple(groups))
