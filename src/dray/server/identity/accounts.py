"""Service accounts: the tokens they get, and who comes with one.

A token names the account it is for, and perhaps the pod, node or secret it is bound to, each with its uid. It is good
until it expires or one of those is gone; nothing has to be revoked. Signatures are verified once and remembered, the
rest is looked at with every request.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec
from msgspec import Struct, field

from dray.api.core.kinds import NODE, POD, SECRET, SERVICE_ACCOUNT
from dray.api.kind import Kind
from dray.api.meta import ApiObject, ObjectMeta
from dray.errors import DrayError
from dray.server.identity.signing import SigningKey
from dray.server.ports import User, View
from dray.values.quoting import quote
from dray.values.times import Time

__all__ = [
    "ACCOUNT_PREFIX",
    "AUTHENTICATED",
    "DEFAULT_ISSUER",
    "AccountTokens",
    "BoundTo",
    "Claims",
    "InvalidToken",
    "Reference",
    "account_groups",
    "split_account",
]

DEFAULT_ISSUER: Final = "https://kubernetes.default.svc"
"""Who issues tokens and, unless asked otherwise, whom they are meant for."""
ACCOUNT_PREFIX: Final = "system:serviceaccount:"
AUTHENTICATED: Final = "system:authenticated"

_EXTRA = "authentication.kubernetes.io"
_GRACE_SECONDS = 60
"""How long a token outlives the deletion of what it is bound to, so that a pod can end in good order."""
_SKEW_SECONDS = 60
_MAX_REMEMBERED = 4096
"""Tokens whose signatures are remembered, about 2 KB each. Then memory starts anew."""


K = TypeVar("K", bound=ApiObject)


class InvalidToken(DrayError):
    """A token of ours that is not, or no longer, good."""


class Reference(Struct, frozen=True):
    """An object and which of that name it is."""

    name: str
    uid: str


class BoundTo(Struct, frozen=True, omit_defaults=True):
    """What a token stands and falls with."""

    namespace: str
    service_account: Reference = field(name="serviceaccount")
    node: Reference | None = None
    pod: Reference | None = None
    secret: Reference | None = None


class Claims(Struct, frozen=True):
    """What a token says, in the order in which it is written."""

    aud: tuple[str, ...]
    exp: int
    iat: int
    iss: str
    jti: str
    bound: BoundTo = field(name="kubernetes.io")
    nbf: int
    sub: str


class AccountTokens:
    """Signs and verifies tokens of one issuer, by the objects of a view."""

    def __init__(self, key: SigningKey, view: View, *, issuer: str = DEFAULT_ISSUER) -> None:
        self._key = key
        self._view = view
        self._issuer = issuer
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(Claims)
        self._verified: dict[str, Claims] = {}

    @property
    def audiences(self) -> tuple[str, ...]:
        """Whom tokens are meant for unless asked otherwise."""
        return (self._issuer,)

    def sign(self, bound: BoundTo, audiences: Sequence[str], lifetime: tuple[Time, Time], token_id: str) -> str:
        """A token for the account, from the first time to the second."""
        start, end = lifetime
        claims = Claims(
            aud=tuple(audiences),
            exp=end.unix_seconds,
            iat=start.unix_seconds,
            iss=self._issuer,
            jti=token_id,
            bound=bound,
            nbf=start.unix_seconds,
            sub=f"{ACCOUNT_PREFIX}{bound.namespace}:{bound.service_account.name}",
        )
        return self._key.sign(self._encoder.encode(claims))

    def find_user(self, token: str, now: Time, audiences: Iterable[str] | None = None) -> User | None:
        """The account a token belongs to, or None if we did not sign it.

        Raises InvalidToken for one that we signed but is no longer good, or is not meant for any of `audiences`
        (absent: this server).
        """
        claims = self._claims_of(token)
        if claims is None:
            return None
        targets = self.audiences if audiences is None else tuple(audiences)
        if not set(claims.aud) & set(targets):
            detail = f"token audiences {_shown(claims.aud)} is invalid for the target audiences {_shown(targets)}"
            raise InvalidToken(detail)
        self._check_time(claims, now)
        self._check_bonds(claims.bound, now)
        return _user(claims)

    def audiences_of(self, token: str) -> tuple[str, ...]:
        """Whom a token of ours is meant for."""
        claims = self._claims_of(token)
        return claims.aud if claims is not None else ()

    def configuration(self, jwks_address: str) -> Mapping[str, object]:
        """The document at `/.well-known/openid-configuration`."""
        return {
            "issuer": self._issuer,
            "jwks_uri": jwks_address,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def jwks(self) -> Mapping[str, object]:
        """The document at `/openid/v1/jwks`."""
        return self._key.jwks()

    def _claims_of(self, token: str) -> Claims | None:
        known = self._verified.get(token)
        if known is not None:
            return known
        payload = self._key.verify(token)
        if payload is None:
            return None
        try:
            claims = self._decoder.decode(payload)
        except msgspec.MsgspecError:
            return None
        if claims.iss != self._issuer:
            return None
        if len(self._verified) >= _MAX_REMEMBERED:
            self._verified.clear()
        self._verified[token] = claims
        return claims

    def _check_time(self, claims: Claims, now: Time) -> None:
        if now.unix_seconds >= claims.exp:
            raise InvalidToken("service account token has expired")
        if now.unix_seconds < claims.nbf - _SKEW_SECONDS:
            raise InvalidToken("service account token is not valid yet")

    def _check_bonds(self, bound: BoundTo, now: Time) -> None:
        self._check_alive(SERVICE_ACCOUNT, bound.namespace, bound.service_account, now)
        if bound.pod is not None:
            self._check_alive(POD, bound.namespace, bound.pod, now)
        elif bound.node is not None:
            # The node of a pod is only told; it is the pod that the token is bound to.
            self._check_alive(NODE, "", bound.node, now)
        if bound.secret is not None:
            self._check_alive(SECRET, bound.namespace, bound.secret, now)

    def _check_alive(self, kind: Kind[K], namespace: str, reference: Reference, now: Time) -> None:
        thing = self._view.find(kind, namespace, reference.name)
        if thing is None or thing.metadata.uid != reference.uid or _is_gone(thing.metadata, now):
            raise InvalidToken("service account token has been invalidated")


def _is_gone(metadata: ObjectMeta, now: Time) -> bool:
    end = metadata.deletion_timestamp
    return end is not None and now.seconds_since(end) > _GRACE_SECONDS


def _user(claims: Claims) -> User:
    bound = claims.bound
    extra = {f"{_EXTRA}/credential-id": (f"JTI={claims.jti}",)}
    if bound.node is not None:
        extra[f"{_EXTRA}/node-name"] = (bound.node.name,)
        if bound.node.uid:
            extra[f"{_EXTRA}/node-uid"] = (bound.node.uid,)
    if bound.pod is not None:
        extra[f"{_EXTRA}/pod-name"] = (bound.pod.name,)
        extra[f"{_EXTRA}/pod-uid"] = (bound.pod.uid,)
    uid = bound.service_account.uid
    return User(claims.sub, uid, (*account_groups(bound.namespace), AUTHENTICATED), extra)


def account_groups(namespace: str) -> tuple[str, ...]:
    """Groups of every service account of a namespace."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def split_account(user_name: str) -> tuple[str, str] | None:
    """Namespace and name of a service account, or None if the user is none."""
    namespace, colon, name = user_name.removeprefix(ACCOUNT_PREFIX).partition(":")
    is_account = user_name.startswith(ACCOUNT_PREFIX) and colon and namespace and name and ":" not in name
    return (namespace, name) if is_account else None


def _shown(audiences: Sequence[str]) -> str:
    return "[" + " ".join(map(quote, audiences)) + "]"
