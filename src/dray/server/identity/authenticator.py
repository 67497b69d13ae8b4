"""Who asks: the one place where credentials become a user.

A verified client certificate counts first, then a bearer token; a token that is wrong is refused even where anybody
would be let in. Who comes with neither is anonymous.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from dray.effects.clock import Clock
from dray.errors import Unauthorized
from dray.server.identity.accounts import AUTHENTICATED, AccountTokens, InvalidToken
from dray.server.identity.impersonation import impersonate, parse_impersonation
from dray.server.identity.statictokens import StaticTokens
from dray.server.ports import ANONYMOUS, Authorizer, User
from dray.values.times import Time

__all__ = ["Authenticator", "TokenOwner"]

_IMPERSONATE = b"impersonate-"


class TokenOwner(Struct, frozen=True):
    """Whose token it is, and which of the audiences asked about it is meant for."""

    user: User
    audiences: tuple[str, ...]


class Authenticator:
    """Finds out who asks, by certificates, tokens and the headers for acting as somebody else."""

    def __init__(self, tokens: AccountTokens, static: StaticTokens, authorizer: Authorizer, clock: Clock) -> None:
        self._tokens = tokens
        self._static = static
        self._authorizer = authorizer
        self._clock = clock

    def identify(self, headers: Iterable[tuple[bytes, bytes]], peer: User | None) -> User:
        """Who asks. `headers` are those of ASGI, with names in lower case; `peer` is the user of the connection.

        Raises Unauthorized for a wrong token, Forbidden for who may not act as the user they ask to act as.
        """
        authorization = b""
        claimed: list[tuple[str, str]] = []
        for name, value in headers:
            if name == b"authorization":
                authorization = value
            elif name.startswith(_IMPERSONATE):
                claimed.append((name.decode("latin-1"), value.decode("utf-8", "surrogateescape")))
        user = peer if peer is not None else self._user_of(authorization)
        if not claimed:
            return user
        wanted = parse_impersonation(claimed)
        return user if wanted is None else impersonate(user, wanted, self._authorizer)

    def _user_of(self, authorization: bytes) -> User:
        token = _bearer_token(authorization) if authorization else ""
        if not token:
            return ANONYMOUS
        try:
            owner = self.find_owner(token, ())
        except InvalidToken as error:
            raise Unauthorized("Unauthorized") from error
        if owner is None:
            raise Unauthorized("Unauthorized")
        return owner.user

    def find_owner(self, token: str, audiences: tuple[str, ...]) -> TokenOwner | None:
        """Whose token it is, if it is meant for one of these audiences; none means this server.

        Returns None for a token that nobody here has given out, raises InvalidToken for one that is no longer good.
        """
        ours = self._tokens.audiences
        asked = audiences or ours
        given = self._static.find_user(token)
        if given is not None:
            meant = tuple(each for each in asked if each in ours)
            return TokenOwner(_with_credentials(given), meant) if meant else None
        account = self._tokens.find_user(token, self._now(), asked)
        if account is None:
            return None
        meant = tuple(each for each in asked if each in self._tokens.audiences_of(token))
        return TokenOwner(account, meant)

    def _now(self) -> Time:
        return self._clock.now().to_time()


def _bearer_token(authorization: bytes) -> str:
    """The token of `Bearer <token>`; other ways to authorize are not ours and count as none."""
    scheme, _, rest = authorization.partition(b" ")
    if scheme.lower() != b"bearer":
        return ""
    return rest.split(b" ", 1)[0].decode("latin-1")


def _with_credentials(user: User) -> User:
    return user if AUTHENTICATED in user.groups else replace(user, groups=(*user.groups, AUTHENTICATED))
