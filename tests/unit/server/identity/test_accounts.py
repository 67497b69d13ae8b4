import base64
import hmac
import json
from typing import Any

import jwt
import pytest

from dray.api.authentication.tokenrequest import BoundObjectReference, TokenRequest, TokenRequestSpec
from dray.errors import BadRequest, Conflict, NotFound
from dray.server.identity.accounts import AccountTokens, InvalidToken
from dray.server.identity.signing import SigningKey
from dray.server.identity.tokenrequests import TokenIssuer
from dray.values.times import Time
from tests.unit.server.identity.certs import NOW, other_signing_key, signing_key
from tests.unit.server.permission.still import StillView, read_manifest

ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "w", "namespace": "ml", "uid": "u-w"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "ml", "uid": "u-s"}}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u-n"}}


def pod(name: str = "p", account: str = "w", node: str = "n", **metadata: Any) -> Any:
    return read_manifest(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "ml", "uid": f"u-{name}", **metadata},
            "spec": {"serviceAccountName": account, "nodeName": node, "containers": []},
        }
    )


def world() -> StillView:
    return StillView([read_manifest(ACCOUNT), read_manifest(SECRET), read_manifest(NODE), pod()])


def request(bound: BoundObjectReference | None = None, **spec: Any) -> TokenRequest:
    return TokenRequest(spec=TokenRequestSpec(bound_object_ref=bound, **{"expiration_seconds": 600, **spec}))


def to_pod(**fields: str) -> BoundObjectReference:
    return BoundObjectReference(kind="Pod", api_version="v1", **{"name": "p", **fields})


def issue(view: StillView, asked: TokenRequest, key: SigningKey | None = None) -> tuple[AccountTokens, TokenRequest]:
    tokens = AccountTokens(key or signing_key(), view)
    return tokens, TokenIssuer(tokens, view).issue(asked, ("ml", "w"), NOW, "token-1")


def payload(token: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))


def test_token_says_what_kubernetes_says() -> None:
    tokens, answer = issue(world(), request())
    assert payload(answer.status.token) == {
        "aud": ["https://kubernetes.default.svc"],
        "exp": NOW.unix_seconds + 600,
        "iat": NOW.unix_seconds,
        "iss": "https://kubernetes.default.svc",
        "jti": "token-1",
        "kubernetes.io": {"namespace": "ml", "serviceaccount": {"name": "w", "uid": "u-w"}},
        "nbf": NOW.unix_seconds,
        "sub": "system:serviceaccount:ml:w",
    }
    assert jwt.get_unverified_header(answer.status.token) == {"alg": "RS256", "kid": signing_key().id}
    assert answer.spec.audiences == tokens.audiences
    assert answer.status.expiration_timestamp == NOW.plus_seconds(600)
    assert (answer.metadata.name, answer.metadata.namespace, answer.metadata.uid) == ("w", "ml", "u-w")


def test_anyone_can_verify_a_token_with_the_published_keys() -> None:
    tokens, answer = issue(world(), request(audiences=("vault",)))
    (key,) = jwt.PyJWKSet.from_dict(dict(tokens.jwks())).keys
    claims = jwt.decode(answer.status.token, key, ["RS256"], audience="vault", options={"verify_exp": False})
    assert claims["sub"] == "system:serviceaccount:ml:w"
    assert tokens.configuration("https://h/openid/v1/jwks")["issuer"] == claims["iss"]


def test_token_makes_a_user() -> None:
    tokens, answer = issue(world(), request())
    user = tokens.find_user(answer.status.token, NOW)
    assert user is not None
    assert (user.name, user.uid) == ("system:serviceaccount:ml:w", "u-w")
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:ml", "system:authenticated")
    assert user.extra == {"authentication.kubernetes.io/credential-id": ("JTI=token-1",)}


def test_token_of_a_pod_tells_pod_and_node() -> None:
    tokens, answer = issue(world(), request(to_pod(uid="u-p")))
    user = tokens.find_user(answer.status.token, NOW)
    assert user is not None
    assert {key.partition("/")[2]: values for key, values in user.extra.items()} == {
        "credential-id": ("JTI=token-1",),
        "node-name": ("n",),
        "node-uid": ("u-n",),
        "pod-name": ("p",),
        "pod-uid": ("u-p",),
    }


def test_token_expires() -> None:
    tokens, answer = issue(world(), request())
    assert tokens.find_user(answer.status.token, NOW.plus_seconds(599)) is not None
    with pytest.raises(InvalidToken, match="expired"):
        tokens.find_user(answer.status.token, NOW.plus_seconds(600))


def test_token_is_not_valid_before_its_time() -> None:
    tokens, answer = issue(world(), request())
    assert tokens.find_user(answer.status.token, Time(NOW.unix_seconds - 60)) is not None
    with pytest.raises(InvalidToken, match="not valid yet"):
        tokens.find_user(answer.status.token, Time(NOW.unix_seconds - 61))


@pytest.mark.parametrize(
    "bound",
    [
        None,
        to_pod(),
        BoundObjectReference(kind="Secret", api_version="v1", name="s"),
        BoundObjectReference(kind="Node", api_version="v1", name="n"),
    ],
    ids=["account", "pod", "secret", "node"],
)
def test_token_ends_with_what_it_is_bound_to(bound: BoundObjectReference | None) -> None:
    view = world()
    tokens, answer = issue(view, request(bound))
    assert tokens.find_user(answer.status.token, NOW) is not None
    kept = {None: ACCOUNT, "Secret": SECRET, "Node": NODE}.get(bound.kind if bound else None)
    thing = read_manifest(kept) if kept else pod()
    view.remove(thing)
    with pytest.raises(InvalidToken, match="invalidated"):
        tokens.find_user(answer.status.token, NOW)


def test_token_of_a_pod_outlives_its_node_object() -> None:
    view = world()
    tokens, answer = issue(view, request(to_pod()))
    view.remove(read_manifest(NODE))
    assert tokens.find_user(answer.status.token, NOW) is not None


def test_object_made_anew_under_the_same_name_is_another() -> None:
    view = world()
    tokens, answer = issue(view, request())
    view.put(read_manifest({**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "uid": "u-2"}}))  # type: ignore[dict-item]  # a table of texts
    with pytest.raises(InvalidToken):
        tokens.find_user(answer.status.token, NOW)


def test_pod_that_ends_keeps_its_token_for_a_minute() -> None:
    view = world()
    tokens, answer = issue(view, request(to_pod()))
    view.put(pod(deletionTimestamp=str(NOW)))
    assert tokens.find_user(answer.status.token, NOW.plus_seconds(60)) is not None
    with pytest.raises(InvalidToken):
        tokens.find_user(answer.status.token, NOW.plus_seconds(61))


def test_token_for_others_is_not_for_us() -> None:
    tokens, answer = issue(world(), request(audiences=("vault",)))
    with pytest.raises(InvalidToken, match="audiences"):
        tokens.find_user(answer.status.token, NOW)
    assert tokens.find_user(answer.status.token, NOW, ("vault", "other")) is not None


def test_token_of_another_key_is_not_ours() -> None:
    _, answer = issue(world(), request(), other_signing_key())
    assert AccountTokens(signing_key(), world()).find_user(answer.status.token, NOW) is None


def test_token_of_another_issuer_is_not_ours() -> None:
    _, answer = issue(world(), request())
    assert AccountTokens(signing_key(), world(), issuer="https://else").find_user(answer.status.token, NOW) is None


@pytest.mark.parametrize("token", ["", "zz", "a.b.c", "..", "é", "e30.e30."])
def test_nonsense_is_nobodys(token: str) -> None:
    assert AccountTokens(signing_key(), world()).find_user(token, NOW) is None


def test_unsigned_token_is_nobodys() -> None:
    _, answer = issue(world(), request())
    body = answer.status.token.split(".")[1]
    header = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    assert AccountTokens(signing_key(), world()).find_user(f"{header}.{body}.", NOW) is None


def test_token_signed_with_the_public_key_as_a_secret_is_nobodys() -> None:
    _, answer = issue(world(), request())
    header = base64.urlsafe_b64encode(b'{"alg":"HS256"}').decode().rstrip("=")
    signed = f"{header}.{answer.status.token.split('.')[1]}"
    secret = signing_key().public_pem()
    signature = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), "sha256")).decode().rstrip("=")
    assert AccountTokens(signing_key(), world()).find_user(f"{signed}.{signature}", NOW) is None


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        (request(to_pod(name="gone")), NotFound, 'pods "gone" not found'),
        (request(to_pod(uid="u-other")), Conflict, "does not match the UID in record"),
        (request(BoundObjectReference(kind="Job", api_version="batch/v1", name="j")), BadRequest, "batch/v1, Kind=Job"),
        (request(BoundObjectReference(kind="Node", api_version="v1", name="x")), NotFound, 'nodes "x" not found'),
    ],
)
def test_what_cannot_be_bound_to_is_refused(asked: TokenRequest, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as refused:
        issue(world(), asked)
    assert says in str(refused.value)


def test_pod_of_another_account_is_refused() -> None:
    view = world()
    view.put(pod("q", account="other"))
    with pytest.raises(BadRequest):
        issue(view, request(to_pod(name="q")))


def test_account_that_is_not_there_is_refused() -> None:
    view = world()
    tokens = AccountTokens(signing_key(), view)
    with pytest.raises(NotFound) as refused:
        TokenIssuer(tokens, view).issue(request(), ("ml", "nobody"), NOW, "t")
    assert str(refused.value) == 'serviceaccounts "nobody" not found'
