"""Everything about identity, put together over one view."""

from collections.abc import Mapping

from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.authentication.tokenreview import TokenReview
from dray.effects.clock import Clock
from dray.server.identity.accounts import DEFAULT_ISSUER, AccountTokens
from dray.server.identity.authenticator import Authenticator
from dray.server.identity.reviews import review_token
from dray.server.identity.signing import SigningKey
from dray.server.identity.statictokens import StaticTokens
from dray.server.identity.tokenrequests import TokenIssuer
from dray.server.permission.authorizer import Permissions
from dray.server.ports import User, View
from dray.values.times import Time

__all__ = ["ServerIdentity", "TokenService"]


class TokenService:
    """Tokens of service accounts: made, looked at, and what others need to verify them."""

    def __init__(self, tokens: AccountTokens, authenticator: Authenticator, view: View) -> None:
        self._tokens = tokens
        self._issuer = TokenIssuer(tokens, view)
        self._authenticator = authenticator

    def issue(self, request: TokenRequest, account: tuple[str, str], now: Time, token_id: str) -> TokenRequest:
        """The request with a signed token in its status. Raises NotFound, BadRequest or Conflict."""
        return self._issuer.issue(request, account, now, token_id)

    def review(self, review: TokenReview) -> TokenReview:
        """The review with its status filled in. Raises BadRequest if there is no token in it."""
        return review_token(review, self._authenticator)

    def jwks(self) -> Mapping[str, object]:
        """The document at `/openid/v1/jwks`, of media type application/jwk-set+json."""
        return self._tokens.jwks()

    def configuration(self, server: str) -> Mapping[str, object]:
        """The document at `/.well-known/openid-configuration` of the server at this address."""
        return self._tokens.configuration(f"{server}/openid/v1/jwks")


class ServerIdentity:
    """How users are known here. Called with the view, it makes the authenticator and what makes tokens."""

    def __init__(
        self,
        key: SigningKey,
        clock: Clock,
        *,
        static: Mapping[str, User] | None = None,
        issuer: str = DEFAULT_ISSUER,
    ) -> None:
        self._key = key
        self._clock = clock
        self._static = StaticTokens(static or {})
        self._issuer = issuer

    def __call__(self, view: View) -> tuple[Authenticator, TokenService]:
        """The two halves, on one view."""
        tokens = AccountTokens(self._key, view, issuer=self._issuer)
        authenticator = Authenticator(tokens, self._static, Permissions(view), self._clock)
        return authenticator, TokenService(tokens, authenticator, view)
