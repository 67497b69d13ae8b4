"""The verbs get and list, from memory.

Every read shows the latest state, which is newer than any version a client may ask for "at least"; a list is of an
earlier state only where the client asks for exactly that, or goes on with one it began.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dray.api.fieldselection import compile_field_selector
from dray.api.meta import ListMeta
from dray.api.writing import parse_version
from dray.errors import ApiError, BadRequest, Gone
from dray.server.continuation import expire, format_token, parse_token
from dray.server.desk import Answer, Desk, missing
from dray.server.endpoints import Endpoint, StoredForm, Target
from dray.server.faults import VersionTooLarge
from dray.server.objects import ObjectView
from dray.server.options import ListQuery
from dray.store.latest import PageQuery
from dray.store.port import Compacted, FutureRevision, Key, Page, Record, Selection
from dray.values.fieldselectors import FieldSelector, parse_field_selector
from dray.values.quoting import quote
from dray.values.selectors import LabelSelector, SelectorError, parse_label_selector

__all__ = ["Filter", "Listing", "compile_filter", "get", "list_objects", "read_revision", "wait_for_revision"]

_WAIT_SECONDS: Final = 3.0
"""How long a read waits for a version that is not reached yet, before it is refused as too large."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which objects a list or a watch is about: where to look, and which of them match (None: all)."""

    selection: Selection
    matches: Callable[[Any], bool] | None

    def accepts(self, view: ObjectView, form: StoredForm, record: Record) -> bool:
        """Whether a record is meant; one of the selection."""
        return self.matches is None or self.matches(view.decode(form, record))


@dataclass(frozen=True, slots=True)
class Listing:
    """Objects as they are stored, and what is said of the list as a whole."""

    endpoint: Endpoint
    records: Sequence[Record]
    metadata: ListMeta


def compile_filter(target: Target, asked: ListQuery) -> Filter:
    """What the selectors of a request mean. Raises BadRequest for those that cannot be understood."""
    endpoint = target.endpoint
    try:
        labels = parse_label_selector(asked.label_selector)
        fields = parse_field_selector(asked.field_selector)
    except SelectorError as fault:
        raise BadRequest(str(fault)) from fault
    name = target.name or None
    matches: Callable[[Any], bool] | None = None
    if fields.requirements:
        by_fields = compile_field_selector(endpoint.kind, endpoint.version, fields)
        name, is_exact = _name_of(fields, name)
        matches = None if is_exact else by_fields
    namespace = target.namespace
    if labels.requirements:
        matches = _both(labels, matches)
    return Filter(Selection(endpoint.form.resource, namespace, name), matches)


def _name_of(fields: FieldSelector, name: str | None) -> tuple[str | None, bool]:
    """The one name a selector leaves, and whether that is all it says."""
    exact = fields.find_exact_value("metadata.name")
    if exact is None or (name is not None and name != exact):
        return name, False
    return exact, len(fields.requirements) == 1


def _both(labels: LabelSelector, by_fields: Callable[[Any], bool] | None) -> Callable[[Any], bool]:
    if by_fields is None:
        return lambda thing: labels.matches(thing.metadata.labels)
    return lambda thing: labels.matches(thing.metadata.labels) and by_fields(thing)


def read_revision(text: str) -> int:
    """A resourceVersion as a number; "" counts as 0. Raises ValueError in Go's words."""
    if not text:
        return 0
    try:
        parse_version(text)
    except ApiError as fault:
        raise ValueError(f"resourceVersion: Invalid value: {quote(text)}: {fault}") from fault
    return min(int(text), 2**63)


async def wait_for_revision(desk: Desk, revision: int) -> None:
    """Wait until a version is reached. Raises `VersionTooLarge` if it is not, within seconds."""
    if revision <= desk.view.revision():
        return
    try:
        async with asyncio.timeout(_WAIT_SECONDS):
            await desk.watches.reach(revision)
    except TimeoutError as fault:
        raise VersionTooLarge(revision, desk.view.revision()) from fault


async def get(desk: Desk, target: Target, version: str = "") -> Answer:
    """One object, at least as new as a version."""
    if version:
        await wait_for_revision(desk, _parse_version(version))
    record = desk.view.record(target.key)
    if record is None:
        raise missing(target)
    return Answer(target.endpoint, record.body, 200, record)


def _parse_version(text: str) -> int:
    try:
        return read_revision(text)
    except ValueError as fault:
        raise BadRequest(f"invalid resource version: {fault}") from fault


async def list_objects(desk: Desk, target: Target, asked: ListQuery) -> Listing:
    """Objects, or one page of them. Raises Gone for a state that is forgotten."""
    chosen = compile_filter(target, asked)
    at, after = await _find_place(desk, target, asked)
    limit = asked.limit or None
    if chosen.matches is None:
        page = await _page(desk, PageQuery(chosen.selection, limit, after), at, asked)
        return _listing(target, page.records, page)
    found: list[Record] = []
    page = await _page(desk, PageQuery(chosen.selection, None, after), at, asked)
    for index, record in enumerate(page.records):
        if chosen.accepts(desk.view, target.endpoint.form, record):
            found.append(record)
            if limit is not None and len(found) == limit:
                rest = page.records[index + 1 :]
                has_more = any(chosen.accepts(desk.view, target.endpoint.form, each) for each in rest)
                cut = Page(tuple(found), page.revision, has_more=has_more, remaining=len(rest) if after else None)
                return _listing(target, found, cut)
    return _listing(target, found, Page(tuple(found), page.revision))


def _listing(target: Target, records: Sequence[Record], page: Page) -> Listing:
    token, remaining = "", None
    if page.has_more:
        token = format_token(target, page.revision, records[-1].key)
        remaining = page.remaining
    metadata = ListMeta(resource_version=str(page.revision), continue_=token, remaining_item_count=remaining)
    return Listing(target.endpoint, records, metadata)


async def _find_place(desk: Desk, target: Target, asked: ListQuery) -> tuple[int | None, Key | None]:
    """At which revision (None: the latest) and after which key a list goes on."""
    if asked.continue_token:
        return _go_on(target, asked)
    version = _parse_version(asked.resource_version)
    if version == 0:
        return None, None
    await wait_for_revision(desk, version)
    match = asked.resource_version_match
    is_exact = match == "Exact" or (asked.limit > 0 and not match)
    return (version if is_exact else None), None


async def _page(desk: Desk, query: PageQuery, at: int | None, asked: ListQuery) -> Page:
    if at is None or at == desk.view.revision():
        return desk.view.page(query)
    try:
        return await desk.store.page(query.selection, at=at, limit=query.limit, after=query.after)
    except Compacted as fault:
        if asked.continue_token:
            raise expire(asked.continue_token) from fault
        raise Gone("The resourceVersion for the provided list is too old.") from fault
    except FutureRevision as fault:
        raise VersionTooLarge(at, desk.view.revision()) from fault


def _go_on(target: Target, asked: ListQuery) -> tuple[int | None, Key]:
    if asked.resource_version not in ("", "0"):
        raise BadRequest("specifying resource version is not allowed when using continue")
    return parse_token(target, asked.continue_token)
