"""The verb update."""

from dray.api.meta import ApiObject
from dray.api.writing import settle_name, settle_namespace
from dray.server.changing import Change, change_stored
from dray.server.desk import Answer, Caller, Desk
from dray.server.endpoints import Target
from dray.server.options import WriteQuery
from dray.server.parts import find_plan

__all__ = ["update"]


async def update(desk: Desk, target: Target, thing: ApiObject, options: WriteQuery, caller: Caller) -> Answer:
    """Replace an object or, at the subresource, its status. Raises NotFound, Conflict, Invalid, Forbidden."""
    kind = target.endpoint.kind
    thing = settle_name(kind, settle_namespace(kind, thing, target.namespace or ""), target.name)
    plan = find_plan(kind.plural, target.subresource)
    return await change_stored(desk, target, Change(lambda record, old: thing, "update", plan), options, caller)
