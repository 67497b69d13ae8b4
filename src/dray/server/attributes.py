"""What a request is taken for before it is looked up: a verb on a resource, or on a path that is none.

Whoever may not do a thing is told so before anybody says whether there is such a thing.
"""

from typing import Final

from dray.server.endpoints import CLUSTER_WORDS, Target
from dray.server.http import HttpCall
from dray.server.options import parse_query
from dray.server.ports import AccessAttributes

__all__ = ["describe", "describe_path", "name_verb"]

_METHOD_VERBS: Final = {
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
    "GET": "get",
    "HEAD": "get",
}
_NOT_WATCHING: Final = frozenset({b"false", b"0", b"False", b"no"})


def name_verb(call: HttpCall, target: Target) -> str:
    """The verb of a request; empty for a method that has none."""
    return _name_verb(call, has_name=bool(target.name), is_watch=target.is_watch)


def _name_verb(call: HttpCall, *, has_name: bool, is_watch: bool) -> str:
    verb = _METHOD_VERBS.get(call.method, "")
    if verb == "delete":
        return verb if has_name else "deletecollection"
    if verb == "get":
        if is_watch or (not has_name and _asks_to_watch(call.query)):
            return "watch"
        return verb if has_name else "list"
    return verb


def _asks_to_watch(query: bytes) -> bool:
    at = query.find(b"watch=")
    if at < 0 and not query.endswith(b"watch"):
        return False
    return any(
        name == b"watch" and value not in _NOT_WATCHING
        for name, _, value in (part.partition(b"=") for part in query.split(b"&"))
    )


def describe(verb: str, target: Target, call: HttpCall) -> AccessAttributes:
    """What is asked for at an endpoint. A namespace counts as what is in it."""
    kind = target.endpoint.kind
    name, field_selector = _select_name(verb, target.name, call)
    namespace = target.namespace or ""
    if kind.plural == "namespaces" and not kind.group:
        namespace = target.name
    return AccessAttributes(
        verb=verb,
        group=kind.group,
        version=target.endpoint.version,
        resource=kind.plural,
        subresource=target.subresource,
        namespace=namespace,
        name=name,
        field_selector=field_selector,
    )


def _select_name(verb: str, name: str, call: HttpCall) -> tuple[str, str]:
    """The name that is asked for, be it by a selector, and the selector."""
    if not call.query or verb not in ("list", "watch", "deletecollection"):
        return name, ""
    asked = next(iter(parse_query(call.query).get("fieldSelector", ())), "")
    if verb != "deletecollection" and asked.startswith("metadata.name=") and "," not in asked:
        name = asked.removeprefix("metadata.name=").removeprefix("=")
    return name, asked


def describe_path(call: HttpCall) -> AccessAttributes:
    """What is asked for at a path that leads nowhere, or to no resource."""
    parts = call.path.strip("/").split("/")
    length = {"api": 2, "apis": 3}.get(parts[0], 0)
    rest = parts[length:]
    if not length or not rest or rest == ["watch"]:
        return AccessAttributes(verb=call.method.lower(), path=call.path)
    is_watch = rest[0] == "watch"
    if is_watch:
        del rest[0]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in CLUSTER_WORDS:
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    verb = _name_verb(call, has_name=bool(name), is_watch=is_watch)
    name, field_selector = _select_name(verb, name, call)
    return AccessAttributes(
        verb=verb,
        group=parts[1] if length > 2 else "",
        version=parts[length - 1],
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
        field_selector=field_selector,
    )
