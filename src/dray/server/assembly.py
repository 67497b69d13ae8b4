"""Putting an API server together, from a store to an application, and what it holds from the start."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from dray.api.core.kinds import NAMESPACE
from dray.api.core.namespace import Namespace
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.registry import AnyKind
from dray.api.scheduling.checks import SYSTEM_CLASSES
from dray.api.scheduling.kinds import PRIORITY_CLASS
from dray.api.scheduling.priorityclass import PriorityClass
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import AlreadyExists
from dray.server.app import Application
from dray.server.creating import create
from dray.server.desk import OWN_MANAGER, Caller, Desk
from dray.server.dispatch import Dispatcher
from dray.server.endpoints import Routes, Target
from dray.server.objects import open_view
from dray.server.options import WriteQuery
from dray.server.permission.authorizer import Permissions
from dray.server.permission.bootstrap import plan_bootstrap
from dray.server.permission.bootstraproles import NODE_RULES
from dray.server.ports import Authenticator, Authorizer, SelectorJudge, Tokens, User, View
from dray.server.site import Site
from dray.server.updating import update
from dray.store.port import Store
from dray.store.watchcache import WatchCache

__all__ = ["MASTER", "ApiServer", "Identity", "ServerParts", "open_api_server"]

SYSTEM_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
MASTER: Final = User("system:apiserver", groups=("system:masters", "system:authenticated"))
"""Whom the server itself writes as."""
_CLASS_DESCRIPTIONS: Final = {
    "system-cluster-critical": "For pods the cluster cannot do without, wherever they run.",
    "system-node-critical": "For pods a node cannot do without, on that very node.",
}
_PARALLEL: Final = 32
"""Objects of the start that are written together: one sync of the disk for all of them."""


class Identity(Protocol):
    """How users are known, made once there is a view of their service accounts."""

    def __call__(self, view: View, authorizer: Authorizer) -> tuple[Authenticator, Tokens | None]:
        """The authenticator, and what makes tokens."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """What an API server is made of."""

    kinds: Sequence[AnyKind]
    store: Store
    clock: Clock
    entropy: Entropy
    judge: SelectorJudge
    identity: Identity
    log: Log


@dataclass(frozen=True, slots=True)
class ApiServer:
    """A server that answers: over HTTP as `application`, in this process at `desk`; `site` has what is no object."""

    desk: Desk
    application: Application
    site: Site


@asynccontextmanager
async def open_api_server(parts: ServerParts) -> AsyncIterator[ApiServer]:
    """A server for the length of a block, with everything in its store that every cluster has."""
    view, stop_viewing = await open_view(parts.store, parts.kinds)
    watches = WatchCache(parts.store, parts.clock)
    permissions = Permissions(view, NODE_RULES)
    authenticator, tokens = parts.identity(view, permissions)
    desk = Desk(
        routes=Routes(parts.kinds),
        store=parts.store,
        view=view,
        watches=watches,
        clock=parts.clock,
        entropy=parts.entropy,
        judge=parts.judge,
        permissions=permissions,
        tokens=tokens,
    )
    try:
        await watches.warm()
        async with asyncio.TaskGroup() as tasks:
            waking = tasks.create_task(watches.run(), name="wake watchers")
            await _ensure_beginnings(desk)
            checks: dict[str, Callable[[], bool]] = {"ping": lambda: True, "store": lambda: True}
            site = Site(desk, checks)
            application = Application(Dispatcher(desk), site, authenticator, parts.log)
            yield ApiServer(desk, application, site)
            waking.cancel()
    finally:
        watches.close()
        stop_viewing()


async def _ensure_beginnings(desk: Desk) -> None:
    """Write what is missing of the objects that every cluster has. Repeated at every start."""
    namespaces = [
        Namespace(metadata=ObjectMeta(name=name))
        for name in SYSTEM_NAMESPACES
        if desk.view.find(NAMESPACE, "", name) is None
    ]
    await _write_all(desk, [(NAMESPACE, each, False) for each in namespaces])
    classes = [
        PriorityClass(metadata=ObjectMeta(name=name), value=value, description=_CLASS_DESCRIPTIONS[name])
        for name, value in SYSTEM_CLASSES.items()
        if desk.view.find(PRIORITY_CLASS, "", name) is None
    ]
    await _write_all(desk, [(PRIORITY_CLASS, each, False) for each in classes])
    planned = plan_bootstrap(desk.view)
    roles = [(kind_of(desk, each.new), each.new, each.old is not None) for each in planned]
    await _write_all(desk, roles)


def kind_of(desk: Desk, thing: ApiObject) -> AnyKind:
    """The kind of an object that names its type."""
    return next(kind for kind in desk.routes.kinds if kind.struct is type(thing))


async def _write_all(desk: Desk, things: Sequence[tuple[AnyKind, ApiObject, bool]]) -> None:
    for start in range(0, len(things), _PARALLEL):
        await asyncio.gather(*(_write(desk, *each) for each in things[start : start + _PARALLEL]))


async def _write(desk: Desk, kind: AnyKind, thing: ApiObject, is_there: bool) -> None:  # unpacked
    meta = thing.metadata
    target = Target(desk.routes.find_endpoint(kind), meta.namespace or None, meta.name if is_there else "", "")
    caller = Caller(MASTER, OWN_MANAGER, verb="update" if is_there else "create")
    if is_there:
        await update(desk, target, thing, WriteQuery(), caller)
        return
    try:
        await create(desk, target, thing, WriteQuery(), caller)
    except AlreadyExists:
        return
