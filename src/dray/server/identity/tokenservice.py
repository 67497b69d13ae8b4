"""Tokens of service accounts as the rest of the server sees them, and the documents of their issuer."""

from collections.abc import Mapping

from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.authentication.tokenreview import TokenReview
from dray.server.identity.accounts import AccountTokens
from dray.server.identity.authenticator import Authenticator
from dray.server.identity.reviews import review_token
from dray.server.identity.tokenrequests import TokenIssuer
from dray.server.ports import View
from dray.values.times import Time

__all__ = ["TokenService"]


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
