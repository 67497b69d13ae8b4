"""Watching for ever: everything as it is, then every change, across broken connections and forgotten history.

A single watch ends sooner or later: the server limits its length, connections break, history is compacted. `observe`
goes on from the last version seen; where that is no longer kept it starts over with a new `Snapshot`.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from msgspec import Struct

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.client.paging import list_all
from dray.client.port import (
    Client,
    ListOptions,
    ObjectName,
    Unreachable,
    WatchEvent,
    WatchEventType,
    WatchOptions,
    get_retry_after_seconds,
    is_retryable,
)
from dray.client.retrying import Pace
from dray.client.view import IndexFunction
from dray.effects.log import Log
from dray.errors import ApiError, BadRequest, Gone, Invalid

__all__ = ["Focus", "Snapshot", "observe"]

K = TypeVar("K", bound=ApiObject)

_WATCH_SECONDS: Final = 300.0
"""A watch lasts five to ten minutes, as informers of Kubernetes do: long enough to be cheap, short enough that load
spreads over servers again."""
_SHORT_SECONDS: Final = 1.0
"""A watch that told nothing and ended so soon counts as failed, lest we run in circles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus(Generic[K]):
    """Which objects are watched, and by what they are looked up besides their names."""

    kind: Kind[K]
    namespace: str | None = None
    """None: all of them."""
    label_selector: str = ""
    field_selector: str = ""
    indexes: Mapping[str, IndexFunction[K]] = field(default_factory=dict)
    """By name of the index: under which values an object is found in it."""


class Snapshot(Struct, Generic[K], frozen=True):
    """Everything in focus at one revision. What is not in it does not exist."""

    things: tuple[K, ...]
    revision: str


@dataclass(slots=True)
class _Progress:
    """How far one observation is. Owned by `observe`."""

    revision: str = ""
    """Last version seen; empty where everything has to be told anew."""
    attempt: int = 0
    """Failures since something was told."""
    has_told: bool = False
    """Whether this round told a change."""
    must_list: bool = False
    """Whether the server does not know how to begin a watch with everything."""
    lists_next: bool = False
    """Whether the last watch that should have begun with everything ended before it did."""
    complaint: str = ""
    """What was logged last."""


async def observe(
    client: Client, focus: Focus[K], pace: Pace, log: Log
) -> AsyncGenerator[Snapshot[K] | WatchEvent[K], None]:
    """Tell everything in focus, then every change, in order, for ever. Close it with `aclose`.

    First comes a Snapshot, then the changes since, each once, none missing; bookmarks come along. Another Snapshot
    comes whenever changes may have been missed, and replaces all that was told before. No failure of the server or of
    the way to it ends this: it is logged and tried again after growing waits, for what is forbidden now may be granted
    later.
    """
    progress = _Progress()
    while True:
        begun = pace.clock.monotonic()
        progress.has_told = False
        fault: ApiError | Unreachable | None = None
        try:
            async with aclosing(_observe_once(client, focus, pace, progress)) as round_of_news:
                async for news in round_of_news:
                    yield news
        except (ApiError, Unreachable) as failure:
            fault = failure
        lasted = pace.clock.monotonic() - begun
        if progress.has_told or lasted >= _SHORT_SECONDS:
            progress.attempt, progress.complaint = 0, ""
            if fault is None:
                continue
        if _can_go_on_at_once(fault, progress):
            continue
        _complain(fault, focus, progress, log)
        wanted = get_retry_after_seconds(fault) if isinstance(fault, ApiError) else 0
        await pace.pause(progress.attempt, at_least=wanted)
        progress.attempt += 1


async def _observe_once(
    client: Client, focus: Focus[K], pace: Pace, progress: _Progress
) -> AsyncGenerator[Snapshot[K] | WatchEvent[K], None]:
    """One list, if it takes one, and one watch."""
    if not progress.revision and (progress.must_list or progress.lists_next):
        progress.lists_next = False
        selected = ListOptions(focus.namespace, focus.label_selector, focus.field_selector)
        listed = await list_all(client, focus.kind, selected)
        progress.revision = listed.metadata.resource_version
        yield Snapshot(listed.items, progress.revision)
    gathered: dict[ObjectName, K] | None = None if progress.revision else {}
    progress.lists_next = gathered is not None
    async with aclosing(client.watch(focus.kind, _plan_watch(focus, pace, progress))) as events:
        async for event in events:
            if gathered is None:
                progress.revision = event.thing.metadata.resource_version
                progress.has_told = progress.has_told or event.type is not WatchEventType.BOOKMARK
                yield event
            elif event.ends_initial_events:
                progress.revision = event.thing.metadata.resource_version
                progress.lists_next = False
                yield Snapshot(tuple(gathered.values()), progress.revision)
                gathered = None
            else:
                _gather(gathered, event)


def _plan_watch(focus: Focus[K], pace: Pace, progress: _Progress) -> WatchOptions:
    return WatchOptions(
        namespace=focus.namespace,
        label_selector=focus.label_selector,
        field_selector=focus.field_selector,
        resource_version=progress.revision,
        send_initial_events=not progress.revision,
        timeout_seconds=int(pace.entropy.jitter(_WATCH_SECONDS, 1.0)),
    )


def _gather(gathered: dict[ObjectName, K], event: WatchEvent[K]) -> None:
    metadata = event.thing.metadata
    name = ObjectName(metadata.name, metadata.namespace)
    if event.type is WatchEventType.DELETED:
        gathered.pop(name, None)
    elif event.type is not WatchEventType.BOOKMARK:
        gathered[name] = event.thing


def _can_go_on_at_once(fault: ApiError | Unreachable | None, progress: _Progress) -> bool:
    """Whether the fault says what to do instead, and this was not just done in vain."""
    if isinstance(fault, Gone):
        progress.revision = ""
        progress.attempt += 1
        return progress.attempt == 1
    if isinstance(fault, Invalid | BadRequest) and not progress.revision and not progress.must_list:
        progress.must_list = True
        return True
    return False


def _complain(fault: ApiError | Unreachable | None, focus: Focus[K], progress: _Progress, log: Log) -> None:
    """Log a fault once for as long as it stays the same."""
    if fault is None or str(fault) == progress.complaint:
        return
    progress.complaint = str(fault)
    if isinstance(fault, ApiError) and not is_retryable(fault) and not isinstance(fault, Gone):
        log.error("watch is refused", kind=focus.kind.name, err=fault)
    else:
        log.info("watch is interrupted", kind=focus.kind.name, err=fault)
