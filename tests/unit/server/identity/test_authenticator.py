import asyncio
from typing import Any

import pytest

from dray.api.authentication.selfreview import SelfSubjectReview
from dray.api.authentication.tokenrequest import TokenRequest, TokenRequestSpec
from dray.api.authentication.tokenreview import TokenReview, TokenReviewSpec
from dray.effects.clock import FakeClock
from dray.errors import BadRequest, Forbidden, Unauthorized
from dray.server.identity.accounts import AccountTokens
from dray.server.identity.authenticator import Authenticator
from dray.server.identity.reviews import review_self, review_token
from dray.server.identity.statictokens import StaticTokens, TokenFileError, parse_static_tokens
from dray.server.identity.tokenrequests import TokenIssuer
from dray.server.permission.authorizer import Permissions
from dray.server.ports import ANONYMOUS, User
from tests.unit.server.identity.certs import NOW, signing_key
from tests.unit.server.permission.still import StillView, read_manifest

ADMIN = User("kubernetes-admin", groups=("system:masters", "system:authenticated"))
AGENT = User("system:node:a", "u-a", ("system:nodes",))


def rbac(kind: str, name: str, **fields: Any) -> Any:
    return read_manifest(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name},
            **fields,
        }
    )


def make(clock: FakeClock | None = None) -> tuple[Authenticator, str]:
    account = {"name": "w", "namespace": "ml", "uid": "u-w"}
    may = {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users", "groups"], "resourceNames": ["bob", "x"]}
    view = StillView(
        [
            read_manifest({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}),
            rbac("ClusterRole", "as-bob", rules=[may]),
            rbac(
                "ClusterRoleBinding",
                "as-bob",
                roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "as-bob"},
                subjects=[{"kind": "User", "name": "ada"}],
            ),
        ]
    )
    tokens = AccountTokens(signing_key(), view)
    asked = TokenRequest(spec=TokenRequestSpec(expiration_seconds=600))
    token = TokenIssuer(tokens, view).issue(asked, ("ml", "w"), NOW, "t").status.token
    authenticator = Authenticator(tokens, StaticTokens({"secret": AGENT}), Permissions(view), clock or FakeClock())
    return authenticator, token


def headers(**fields: str) -> list[tuple[bytes, bytes]]:
    return [(name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()]


def test_nobody_is_anonymous() -> None:
    assert make()[0].identify(headers(accept="*/*"), None) is ANONYMOUS


def test_certificate_is_enough() -> None:
    assert make()[0].identify([], ADMIN) is ADMIN


def test_certificate_counts_before_a_token() -> None:
    assert make()[0].identify(headers(authorization="Bearer wrong"), ADMIN) is ADMIN


def test_static_token_makes_an_authenticated_user() -> None:
    user = make()[0].identify(headers(authorization="bearer secret"), None)
    assert (user.name, user.uid, user.groups) == ("system:node:a", "u-a", ("system:nodes", "system:authenticated"))


def test_token_of_an_account_makes_its_user() -> None:
    authenticator, token = make()
    assert authenticator.identify(headers(authorization=f"Bearer {token}"), None).name == "system:serviceaccount:ml:w"


@pytest.mark.parametrize("token", ["wrong", "a.b.c", "é"])
def test_wrong_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthorized) as refused:
        make()[0].identify(headers(authorization=f"Bearer {token}"), None)
    assert str(refused.value) == "Unauthorized"


def test_expired_token_is_refused() -> None:
    clock = FakeClock()
    authenticator, token = make(clock)
    asyncio.run(clock.advance(600))
    with pytest.raises(Unauthorized):
        authenticator.identify(headers(authorization=f"Bearer {token}"), None)


@pytest.mark.parametrize("value", ["Basic YTpi", "Bearer", "Bearer ", "", "Negotiate x"])
def test_other_ways_to_authorize_are_none(value: str) -> None:
    assert make()[0].identify(headers(authorization=value), None) is ANONYMOUS


def test_master_acts_as_anybody() -> None:
    asked = headers(impersonate_user="bob", impersonate_group="x", impersonate_uid="7", impersonate_extra_a_2fb="c")
    asked.append((b"impersonate-group", b"y"))
    asked[3] = (b"impersonate-extra-a%2fb", b"c")
    assert make()[0].identify(asked, ADMIN) == User("bob", "7", ("x", "y", "system:authenticated"), {"a/b": ("c",)})


def test_account_is_acted_as_with_its_groups() -> None:
    user = make()[0].identify(headers(impersonate_user="system:serviceaccount:ml:w"), ADMIN)
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:ml", "system:authenticated")


@pytest.mark.parametrize(
    "name", ["system:serviceaccount:ml:a:b", "system:serviceaccount:ml:", "system:serviceaccount::w"]
)
def test_what_only_looks_like_an_account_is_a_user(name: str) -> None:
    assert make()[0].identify(headers(impersonate_user=name), ADMIN).groups == ("system:authenticated",)


def test_anonymous_is_acted_as_without_credentials() -> None:
    assert make()[0].identify(headers(impersonate_user="system:anonymous"), ADMIN).groups == ANONYMOUS.groups


def test_acting_as_needs_the_verb_for_each_claim() -> None:
    authenticator, ada = make()[0], User("ada", groups=("system:authenticated",))
    assert authenticator.identify(headers(impersonate_user="bob", impersonate_group="x"), ada).name == "bob"
    with pytest.raises(Forbidden) as refused:
        authenticator.identify(headers(impersonate_user="eve"), ada)
    want = (
        'users "eve" is forbidden: User "ada" cannot impersonate resource "users" in API group "" at the cluster scope'
    )
    assert str(refused.value) == want
    with pytest.raises(Forbidden, match="groups"):
        authenticator.identify(headers(impersonate_user="bob", impersonate_group="system:masters"), ada)
    with pytest.raises(Forbidden, match="uids"):
        authenticator.identify(headers(impersonate_user="bob", impersonate_uid="1"), ada)
    with pytest.raises(Forbidden, match="userextras/k"):
        authenticator.identify(headers(impersonate_user="bob", impersonate_extra_k="v"), ada)
    with pytest.raises(Forbidden, match="serviceaccounts"):
        authenticator.identify(headers(impersonate_user="system:serviceaccount:ml:w"), ada)


def test_groups_without_a_user_are_refused() -> None:
    with pytest.raises(BadRequest):
        make()[0].identify(headers(impersonate_group="x"), ADMIN)


def test_review_tells_whose_token_it_is() -> None:
    authenticator, token = make()
    status = review_token(TokenReview(spec=TokenReviewSpec(token=token)), authenticator).status
    assert status.authenticated
    assert status.user.username == "system:serviceaccount:ml:w"
    assert status.user.groups[-1] == "system:authenticated"
    assert status.audiences == ("https://kubernetes.default.svc",)
    static = review_token(TokenReview(spec=TokenReviewSpec(token="secret")), authenticator).status
    assert static.user.uid == "u-a"


def test_review_of_a_bad_token_says_so() -> None:
    authenticator, token = make()
    status = review_token(TokenReview(spec=TokenReviewSpec(token="zz")), authenticator).status
    assert (status.authenticated, status.error) == (False, "invalid bearer token")
    other = TokenReview(spec=TokenReviewSpec(token=token, audiences=("vault",)))
    assert review_token(other, authenticator).status.error.startswith("[invalid bearer token, token audiences [")
    elsewhere = TokenReview(spec=TokenReviewSpec(token="secret", audiences=("vault",)))
    assert review_token(elsewhere, authenticator).status.error == "invalid bearer token"
    with pytest.raises(BadRequest):
        review_token(TokenReview(), authenticator)


def test_review_of_oneself() -> None:
    answer = review_self(User("bob", "7", ("x",), {"k": ("v",)}), SelfSubjectReview(), NOW)
    info = answer.status.user_info
    assert (info.username, info.uid, info.groups, info.extra) == ("bob", "7", ("x",), {"k": ("v",)})
    assert answer.metadata.creation_timestamp == NOW


def test_static_tokens_are_read_line_by_line() -> None:
    users = parse_static_tokens(['t1,ada,1,"team, admins"', "", "t2,bob,"])
    assert users == {"t1": User("ada", "1", ("team", "admins")), "t2": User("bob")}


@pytest.mark.parametrize("lines", [["t,ada"], [",ada,1"], ["t,,1"], ["t,ada,1", "t,bob,2"]])
def test_line_that_is_no_token_is_named(lines: list[str]) -> None:
    with pytest.raises(TokenFileError, match=f"line {len(lines)}:"):
        parse_static_tokens(lines)
