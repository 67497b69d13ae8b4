"""Which adapter stands behind each port of the API server. Apart from `wire`, so that other verbs start without it."""

import ssl
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from dray.app.wire import CelJudge
from dray.client.port import NodeStreams
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy, SystemEntropy
from dray.effects.log import Log
from dray.server.assembly import Identity
from dray.server.identity.accounts import AccountTokens
from dray.server.identity.authenticator import Authenticator
from dray.server.identity.credentials import Credentials
from dray.server.identity.renewal import CertificateKeeper, keep_certificates
from dray.server.identity.signing import SigningKey
from dray.server.identity.statictokens import StaticTokens
from dray.server.identity.tokenservice import TokenService
from dray.server.noderelay import NodeRelay
from dray.server.ports import Authorizer, SelectorJudge, Tokens, User, View
from dray.store.opening import DATABASE_FILE
from dray.store.port import Store
from dray.store.sqlite import open_sqlite_store

__all__ = ["wire_entropy", "wire_identity", "wire_judge", "wire_keeper", "wire_node_relay", "wire_store"]


def wire_entropy() -> Entropy:
    """The machine's chance."""
    return SystemEntropy()


def wire_store(folder: Path) -> AbstractAsyncContextManager[Store]:
    """The durable store in a data directory."""
    return open_sqlite_store(folder / DATABASE_FILE)


def wire_keeper(
    folder: Path, clock: Clock, log: Log, *, names: Sequence[str] = ()
) -> Callable[[ssl.SSLContext], Coroutine[None, None, None]]:
    """Who renews the certificates in a folder, and shows them from then on."""
    return lambda context: keep_certificates(CertificateKeeper(folder, context, log, names=names), clock)


def wire_judge() -> SelectorJudge:
    """What compiles the expressions of selectors."""
    return CelJudge()


def wire_identity(signing_key: SigningKey, clock: Clock, static: Mapping[str, User]) -> Identity:
    """Users by certificates, tokens of service accounts, and tokens given at start."""

    def make(view: View, authorizer: Authorizer) -> tuple[Authenticator, Tokens]:
        tokens = AccountTokens(signing_key, view)
        authenticator = Authenticator(tokens, StaticTokens(static), authorizer, clock)
        return authenticator, TokenService(tokens, authenticator, view)

    return make


def wire_node_relay(credentials: Credentials, view: View) -> NodeStreams:
    """The containers of nodes whose agents run apart."""
    return NodeRelay(view, credentials.node_client, credentials.authority.certificate)
