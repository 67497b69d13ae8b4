"""Acting as somebody else: `kubectl --as`. Needs the verb `impersonate` on everything one claims to be."""

from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from msgspec import Struct

from dray.errors import BadRequest
from dray.server.identity.accounts import AUTHENTICATED, account_groups, split_account
from dray.server.permission.denial import refuse
from dray.server.ports import ANONYMOUS, AccessAttributes, Authorizer, User
from dray.values.quoting import quote

__all__ = ["Impersonation", "impersonate", "parse_impersonation"]

_GROUP = "authentication.k8s.io"
_EXTRA = "impersonate-extra-"


class Impersonation(Struct, frozen=True):
    """Whom the caller wants to act as."""

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    """Keys and values, in the order sent; a key may come more than once."""


def parse_impersonation(headers: Iterable[tuple[str, str]]) -> Impersonation | None:
    """Read the headers whose names begin with `impersonate-`, in lower case. Raises BadRequest without a user."""
    user = uid = ""
    groups: list[str] = []
    extra: list[tuple[str, str]] = []
    for name, value in headers:
        if name == "impersonate-user":
            user = user or value
        elif name == "impersonate-uid":
            uid = uid or value
        elif name == "impersonate-group":
            groups.append(value)
        elif name.startswith(_EXTRA):
            extra.append((unquote(name.removeprefix(_EXTRA)).lower(), value))
    wanted = Impersonation(user, uid, tuple(groups), tuple(extra))
    if user:
        return wanted
    if wanted != Impersonation():
        raise BadRequest(f"requested {_show(wanted)} without impersonating a user name")
    return None


def _show(wanted: Impersonation) -> str:
    """Somebody as Go prints them."""
    groups = f"{{{', '.join(map(quote, wanted.groups))}}}" if wanted.groups else "(nil)"
    extra = "(nil)"
    if wanted.extra:
        values: dict[str, list[str]] = {}
        for key, value in wanted.extra:
            values.setdefault(key, []).append(value)
        shown = (f"{quote(key)}:[]string{{{', '.join(map(quote, values[key]))}}}" for key in sorted(values))
        extra = f"{{{', '.join(shown)}}}"
    who = f'Name:"", UID:{quote(wanted.uid)}, Groups:[]string{groups}, Extra:map[string][]string{extra}'
    return f"&user.DefaultInfo{{{who}}}"


def impersonate(caller: User, wanted: Impersonation, authorizer: Authorizer) -> User:
    """The user to go on with. Raises Forbidden if the caller may not be all of it."""
    for act in _acts(wanted):
        decision = authorizer.decide(caller, act)
        if not decision.is_allowed:
            raise refuse(caller, act, decision)
    extra: dict[str, tuple[str, ...]] = {}
    for key, value in wanted.extra:
        extra[key] = (*extra.get(key, ()), value)
    return User(wanted.user, wanted.uid, _groups(wanted), extra)


def _acts(wanted: Impersonation) -> Iterator[AccessAttributes]:
    account = split_account(wanted.user)
    if account is None:
        yield _act("users", wanted.user)
    else:
        namespace, name = account
        yield AccessAttributes(
            verb="impersonate", version="v1", resource="serviceaccounts", namespace=namespace, name=name
        )
    for group in wanted.groups:
        yield _act("groups", group)
    for key, value in wanted.extra:
        yield _act("userextras", value, group=_GROUP, subresource=key)
    if wanted.uid:
        yield _act("uids", wanted.uid, group=_GROUP)


def _act(resource: str, name: str, *, group: str = "", subresource: str = "") -> AccessAttributes:
    return AccessAttributes(
        verb="impersonate", group=group, version="v1", resource=resource, subresource=subresource, name=name
    )


def _groups(wanted: Impersonation) -> tuple[str, ...]:
    """The groups asked for, or those of a service account; and whether there are credentials is part of it."""
    groups = wanted.groups
    account = split_account(wanted.user)
    if not groups and account is not None:
        groups = account_groups(account[0])
    implied = ANONYMOUS.groups[0] if wanted.user == ANONYMOUS.name else AUTHENTICATED
    if implied in groups or ANONYMOUS.groups[0] in groups:
        return groups
    return (*groups, implied)
