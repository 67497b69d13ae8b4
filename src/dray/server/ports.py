"""What the parts of the server say to each other: who asks, for what, whether they may, and what else there is.

The parts are independent: `authn` finds out who asks, `authz` whether they may, `admission` what is filled in or
refused with a look at other objects, `verbs` does the work. They meet in the values below.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.authentication.tokenreview import TokenReview
from dray.api.checks import ExpressionVerdict
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.values.times import Time

__all__ = [
    "ANONYMOUS",
    "AccessAttributes",
    "Authenticator",
    "Authorizer",
    "Decision",
    "SelectorJudge",
    "Tokens",
    "User",
    "View",
]

K = TypeVar("K", bound=ApiObject)


class User(Struct, frozen=True):
    """Who asks, as authentication found out."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}


ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))
"""Who asks without credentials."""


class AccessAttributes(Struct, frozen=True):
    """What is asked for: a verb on a resource, or on a path that is none."""

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    """Set for paths such as /metrics only; then `verb` is the HTTP method in lower case."""
    label_selector: str = ""
    field_selector: str = ""


class Decision(Struct, frozen=True):
    """Whether it is allowed, and why. No opinion counts as not allowed."""

    is_allowed: bool
    reason: str = ""


class Authorizer(Protocol):
    """Says who may do what."""

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        """Whether `user` may do it, by what is stored now."""
        ...


class View(Protocol):
    """The latest objects, in memory: quick to ask, never awaited, never older than the last acknowledged write."""

    def find(self, kind: Kind[K], namespace: str, name: str) -> K | None:
        """One object."""
        ...

    def list(self, kind: Kind[K], namespace: str | None = None) -> Sequence[K]:
        """All objects of a kind, or those of a namespace, ordered by namespace and name."""
        ...

    def revision(self) -> int:
        """The revision this view shows; what is derived from it can be kept until it grows."""
        ...


class Authenticator(Protocol):
    """Says who asks."""

    def identify(self, headers: Iterable[tuple[bytes, bytes]], peer: User | None) -> User:
        """The user, `ANONYMOUS` without credentials. `peer` is whom the client's certificate names.

        Raises Unauthorized for bad credentials, Forbidden for who may not act as somebody else.
        """
        ...


class Tokens(Protocol):
    """Tokens of service accounts: made, and looked at."""

    def issue(self, request: TokenRequest, account: tuple[str, str], now: Time, token_id: str) -> TokenRequest:
        """The request with a signed token in its status. Raises NotFound, Invalid or Conflict."""
        ...

    def review(self, review: TokenReview) -> TokenReview:
        """The review with its status filled in; a bad token is an answer, not an error."""
        ...

    def jwks(self) -> Mapping[str, object]:
        """What tells whether a token is genuine, as a JSON web key set."""
        ...

    def configuration(self, server: str) -> Mapping[str, object]:
        """Where that is found of the server at this address, as OpenID has it."""
        ...


class SelectorJudge(Protocol):
    """Compiles expressions for admission."""

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """A device selector."""
        ...

    def judge_derived_attribute(self, expression: str) -> ExpressionVerdict:
        """The expression of a derived attribute."""
        ...
