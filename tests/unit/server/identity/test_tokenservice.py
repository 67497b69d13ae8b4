from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.authentication.tokenreview import TokenReview, TokenReviewSpec
from dray.effects.clock import FakeClock
from dray.server.identity.accounts import AccountTokens
from dray.server.identity.authenticator import Authenticator
from dray.server.identity.statictokens import StaticTokens
from dray.server.identity.tokenservice import TokenService
from dray.server.permission.authorizer import Permissions
from tests.unit.server.identity.certs import NOW, signing_key
from tests.unit.server.permission.still import StillView, read_manifest

ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "w", "namespace": "ml", "uid": "u-w"}}


def test_token_that_is_issued_is_known() -> None:
    view = StillView([read_manifest(ACCOUNT)])
    tokens = AccountTokens(signing_key(), view)
    authenticator = Authenticator(tokens, StaticTokens({}), Permissions(view), FakeClock())
    service = TokenService(tokens, authenticator, view)
    token = service.issue(TokenRequest(), ("ml", "w"), NOW, "1").status.token
    bearer = [(b"authorization", f"Bearer {token}".encode())]
    assert authenticator.identify(bearer, None).name == "system:serviceaccount:ml:w"
    assert service.review(TokenReview(spec=TokenReviewSpec(token=token))).status.authenticated
    assert service.configuration("https://h:1")["jwks_uri"] == "https://h:1/openid/v1/jwks"
    assert service.jwks() == signing_key().jwks()
