"""How long it takes to find out who asks and whether they may, where two hundred namespaces have their own roles."""

from collections.abc import Callable, Mapping, Sequence
from timeit import repeat
from typing import TypeVar, cast

from dray.api.core.kinds import SERVICE_ACCOUNT
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.kind import Kind
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.rbac.role import PolicyRule, Role
from dray.api.rbac.rolebinding import RoleBinding, RoleRef, Subject
from dray.effects.clock import FakeClock
from dray.server.identity.accounts import AccountTokens, BoundTo, Reference
from dray.server.identity.authenticator import Authenticator
from dray.server.identity.signing import SigningKey, make_signing_key
from dray.server.identity.statictokens import StaticTokens
from dray.server.permission.authorizer import Permissions
from dray.server.permission.bootstrap import bootstrap_bindings
from dray.server.permission.bootstraproles import bootstrap_roles
from dray.server.permission.rbac import RbacAuthorizer
from dray.server.ports import AccessAttributes, User

K = TypeVar("K", bound=ApiObject)

GOALS = {"permission: an account gets a pod": 10.0, "identity: a token that is known": 10.0}

_CALLS = 5_000
_NAMESPACES = 200


class _Still:
    """A view of objects that stay as they are, while other objects are written."""

    def __init__(self, things: Sequence[ApiObject]) -> None:
        self._lists: dict[str, list[ApiObject]] = {}
        for thing in things:
            self._lists.setdefault(type(thing).__name__, []).append(thing)
        self._by_name: Mapping[tuple[str, str, str], ApiObject] = {
            (type(thing).__name__, thing.metadata.namespace, thing.metadata.name): thing for thing in things
        }
        self.written = 1

    def find(self, kind: Kind[K], namespace: str, name: str) -> K | None:
        return cast("K | None", self._by_name.get((kind.name, namespace, name)))

    def list(self, kind: Kind[K], namespace: str | None = None) -> Sequence[K]:
        return cast("Sequence[K]", list(self._lists.get(kind.name, ())))

    def revision(self) -> int:
        return self.written


def _world() -> _Still:
    rules = (PolicyRule(verbs=("get", "list"), api_groups=("",), resources=("pods",)),)
    things: list[ApiObject] = [*bootstrap_roles(), *bootstrap_bindings()]
    for number in range(_NAMESPACES):
        metadata = ObjectMeta(name="readers", namespace=f"n{number}")
        subjects = (Subject(kind="ServiceAccount", name="default"),)
        things.append(Role(metadata=metadata, rules=rules))
        things.append(RoleBinding(metadata=metadata, subjects=subjects, role_ref=RoleRef(kind="Role", name="readers")))
    things.append(ServiceAccount(kind=SERVICE_ACCOUNT.name, metadata=ObjectMeta(name="a", namespace="n1", uid="u")))
    return _Still(things)


def _microseconds(action: Callable[[], object]) -> float:
    return min(repeat(action, number=_CALLS, repeat=3)) / _CALLS * 1e6


def measure() -> list[tuple[str, float, str]]:
    """Figures of this module: name, number, unit."""
    view = _world()
    permissions, roles = Permissions(view), RbacAuthorizer(view)
    key = SigningKey(make_signing_key())
    tokens = AccountTokens(key, view)
    clock = FakeClock()
    now = clock.now().to_time()
    token = tokens.sign(BoundTo("n1", Reference("a", "u")), tokens.audiences, (now, now.plus_seconds(600)), "id")
    authenticator = Authenticator(tokens, StaticTokens({}), permissions, clock)
    headers = [(b"accept", b"*/*"), (b"authorization", f"Bearer {token}".encode())]
    account = authenticator.identify(headers, None)
    reader = User("system:serviceaccount:n1:default", groups=account.groups)
    get = AccessAttributes("get", version="v1", resource="pods", namespace="n1", name="p")

    def decide_after_a_write() -> None:
        view.written += 1
        roles.decide(reader, get)

    def verify_anew() -> None:
        AccountTokens(key, view).find_user(token, now)

    return [
        ("permission: an account gets a pod", _microseconds(lambda: permissions.decide(reader, get)), "µs"),
        ("permission: an account is refused", _microseconds(lambda: permissions.decide(account, get)), "µs"),
        ("permission: the first decision after a write", _microseconds(decide_after_a_write), "µs"),
        ("identity: a token that is known", _microseconds(lambda: authenticator.identify(headers, None)), "µs"),
        ("identity: a token that is new", _microseconds(verify_anew), "µs"),
    ]
