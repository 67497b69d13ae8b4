"""The verb update."""

from typing import Final

from msgspec.structs import replace

from dray.api.meta import ApiObject
from dray.api.writing import require_name, settle_namespace
from dray.errors import NotFound
from dray.server.changing import Change, change_stored
from dray.server.creating import create
from dray.server.desk import Answer, Caller, Desk
from dray.server.endpoints import Target
from dray.server.options import WriteQuery
from dray.server.parts import find_plan
from dray.server.repetition import drop_repeated_owners

__all__ = ["update"]

_MADE_BY_UPDATES: Final = frozenset(
    {
        ("", "events"),
        ("events.k8s.io", "events"),
        ("", "limitranges"),
        ("", "services"),
        ("coordination.k8s.io", "leases"),
        ("rbac.authorization.k8s.io", "clusterroles"),
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        ("rbac.authorization.k8s.io", "roles"),
        ("rbac.authorization.k8s.io", "rolebindings"),
    }
)
"""Kinds of which an update makes the object if it is not there."""


async def update(desk: Desk, target: Target, thing: ApiObject, options: WriteQuery, caller: Caller) -> Answer:
    """Replace an object or, at the subresource, its status. Raises NotFound, Conflict, Invalid, Forbidden."""
    kind = target.endpoint.kind
    thing = require_name(kind, settle_namespace(kind, thing, target.namespace or ""), target.name)
    thing = drop_repeated_owners(thing, caller.warnings)
    plan = find_plan(kind.plural, target.subresource)
    try:
        return await change_stored(desk, target, Change(lambda record, old: thing, "update", plan), options, caller)
    except NotFound:
        is_made = (kind.group, kind.plural) in _MADE_BY_UPDATES and not target.subresource
        if not is_made or desk.view.record(target.key) is not None:
            raise
    new = replace(thing, metadata=replace(thing.metadata, resource_version=""))
    return await create(desk, target, new, options, caller)
