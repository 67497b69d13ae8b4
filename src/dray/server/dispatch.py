"""From a request to a verb and from its result to a reply: bodies decoded, shapes chosen, warnings gathered."""

from typing import Any, Final

from dray.api.authentication.kinds import TOKEN_REQUEST
from dray.api.codec import encode_value
from dray.api.core.kinds import BINDING
from dray.api.meta import DeleteOptions, ListMeta, Status
from dray.api.policy.kinds import EVICTION
from dray.api.registry import AnyKind
from dray.client.port import PatchType
from dray.errors import ApiError
from dray.server.binding import bind, evict
from dray.server.bodies import read_body
from dray.server.creating import create
from dray.server.deletebodies import read_delete_options
from dray.server.deleting import delete, delete_collection
from dray.server.desk import Answer, Caller, Desk, Job
from dray.server.endpoints import Endpoint, Target, get_form
from dray.server.faults import UnsupportedMediaType, method_not_allowed
from dray.server.http import HttpCall, Reply, reply_failure, reply_status, warning_headers
from dray.server.negotiation import Shape, Taken, choose_form, read_media_type
from dray.server.options import (
    Query,
    Validation,
    WriteQuery,
    parse_query,
    read_delete_query,
    read_list_query,
    read_write_query,
)
from dray.server.patching import patch
from dray.server.podstreams import read_log, refuse_stream
from dray.server.printing import print_body
from dray.server.reads import Listing, get, list_objects
from dray.server.repetition import mark_disowned
from dray.server.reviewing import is_review, issue_token, review
from dray.server.shaping import choose_shown, shape_answer, shape_listing
from dray.server.updating import update
from dray.server.watching import open_watch
from dray.server.watchstream import WatchWriter

__all__ = ["Dispatcher", "is_stream"]

_STREAMS: Final = frozenset({"exec", "attach", "portforward", "proxy"})
_POSTED: Final[dict[str, AnyKind]] = {"binding": BINDING, "eviction": EVICTION, "token": TOKEN_REQUEST}


class Dispatcher:
    """Calls verbs for HTTP."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._acts = {
            "get": self._get,
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    async def dispatch(self, verb: str, target: Target, call: HttpCall, caller: Caller) -> Reply:
        """Answer a request that is allowed. What a verb refuses is the answer, with its warnings. Raises ApiError."""
        act = self._acts.get(verb)
        if act is None or call.method == "HEAD" or not _offers(target, verb):
            raise method_not_allowed()
        if target.endpoint.deprecation is not None:
            caller.warnings.append(target.endpoint.deprecation)
        try:
            reply = await act(target, call, caller)
        except ApiError as refusal:
            reply = reply_failure(refusal)
        if caller.warnings:
            reply.headers = (*reply.headers, *warning_headers(caller.warnings))
        return reply

    async def _get(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"))
        query = parse_query(call.query)
        if target.subresource == "log":
            return await read_log(self.desk, target, query)
        if is_stream(target):
            raise refuse_stream(self.desk, target, query, call.header(b"upgrade"))
        answer = await get(self.desk, target, _one(query, "resourceVersion"))
        return self._reply(answer, form, query, call)

    async def _list(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"), is_collection=True)
        query = parse_query(call.query)
        shown = choose_shown(form, query)
        listing = await list_objects(self.desk, target, read_list_query(query))
        return print_body(shape_listing(self.desk, listing, shown), form, query, call)

    async def _watch(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"), is_collection=True)
        query = parse_query(call.query)
        asked = read_list_query(query, is_watch=True)
        shown = choose_shown(form, query)
        watch = open_watch(self.desk, target, asked)
        writer = WatchWriter(self.desk, watch, shown)
        return Reply(200, stream=writer.pieces())

    async def _create(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"))
        query = parse_query(call.query)
        if is_stream(target):
            raise refuse_stream(self.desk, target, query, call.header(b"upgrade"))
        options = read_write_query(query, "CreateOptions")
        if target.subresource or target.endpoint.kind is BINDING:
            return await self._post(target, call, options, caller)
        thing = await self._read(target.endpoint, call, options, caller)
        if is_review(target.endpoint):
            answered = review(self.desk, target, thing, options, caller)
            return Reply(201, target.endpoint.encode(answered) + b"\n")
        answer = await create(self.desk, target, thing, options, caller)
        return self._reply(answer, form, query, call)

    async def _post(self, target: Target, call: HttpCall, options: WriteQuery, caller: Caller) -> Reply:
        """Something posted to an object."""
        kind = _POSTED[target.subresource or "binding"]
        endpoint = Endpoint(kind, kind.declared_version, get_form(kind))
        thing: Any = await self._read(endpoint, call, options, caller)
        if kind is TOKEN_REQUEST:
            return Reply(
                201, endpoint.encode(issue_token(self.desk, Job(target, options, caller), thing, kind)) + b"\n"
            )
        if kind is EVICTION:
            return reply_status(await evict(self.desk, target, thing, options, caller), 201)
        name = target.name or thing.metadata.name
        return reply_status(await bind(self.desk, target._replace(name=name), thing, options, caller), 201)

    async def _update(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"))
        query = parse_query(call.query)
        options = read_write_query(query, "UpdateOptions")
        thing = await self._read(target.endpoint, call, options, caller)
        answer = await update(self.desk, target, thing, options, caller)
        return self._reply(answer, form, query, call)

    async def _patch(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"))
        query = parse_query(call.query)
        media = read_media_type(call.header(b"content-type"))
        try:
            type_ = PatchType(media)
        except ValueError as fault:
            raise UnsupportedMediaType("415: Unsupported Media Type", has_details=True) from fault
        options = read_write_query(query, "PatchOptions", is_apply=type_ is PatchType.APPLY)
        answer = await patch(self.desk, target, (type_, await call.body()), options, caller)
        return self._reply(answer, form, query, call)

    async def _delete(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"))
        query = parse_query(call.query)
        options = await self._read_delete_options(call, query)
        outcome = await delete(self.desk, target, options, caller)
        if isinstance(outcome, Status):
            return print_body(encode_value(outcome), form, query, call)
        return self._reply(outcome, form, query, call)

    async def _delete_collection(self, target: Target, call: HttpCall, caller: Caller) -> Reply:
        form = choose_form(call.header(b"accept"))
        query = parse_query(call.query)
        options = await self._read_delete_options(call, query)
        listing = await list_objects(self.desk, target, read_list_query(query))
        await delete_collection(self.desk, listing, options, caller)
        metadata = ListMeta(resource_version=str(self.desk.view.revision()))
        deleted = Listing(listing.endpoint, listing.records, metadata)
        return print_body(shape_listing(self.desk, deleted, choose_shown(form, query)), form, query, call)

    async def _read_delete_options(self, call: HttpCall, query: Query) -> DeleteOptions:
        """The options of a deletion: those of the body alone, where there is one."""
        body = await call.body()
        if not body:
            return read_delete_query(query)
        return read_delete_options(body, call.header(b"content-type"))

    async def _read(self, endpoint: Endpoint, call: HttpCall, options: WriteQuery, caller: Caller) -> Any:
        """The object of a body; unknown and repeated fields are refused or warned of, as asked."""
        body = read_body(await call.body(), call.header(b"content-type"), endpoint.kind.name)
        codec, text = endpoint.codec, mark_disowned(body.text)
        if options.validation == Validation.STRICT and not body.strict_faults:
            return codec.decode(text, strict=True)
        thing = codec.decode(text)
        if options.validation == Validation.STRICT:
            raise codec.refuse_strictly((*body.strict_faults, *map(str, codec.find_strict_faults(text))))
        if options.validation == Validation.WARN:
            caller.warnings += (*body.repeated, *map(str, codec.find_strict_faults(text)))
        return thing

    def _reply(self, answer: Answer, form: Taken, query: Query, call: HttpCall) -> Reply:
        if form.shape is Shape.OBJECT and not form.is_yaml and not query:
            reply = print_body(answer.endpoint.render(answer.body), form, query, call)
        else:
            shown = choose_shown(form, query)
            reply = print_body(shape_answer(self.desk, answer, shown), form, query, call)
        reply.code = answer.code
        return reply


def is_stream(target: Target) -> bool:
    """Whether a target is no object but what goes on in a container."""
    return target.subresource in _STREAMS


def _offers(target: Target, verb: str) -> bool:
    kind = target.endpoint.kind
    if target.subresource:
        return verb in target.endpoint.subresources[target.subresource].verbs
    if target.name and verb in ("create", "list", "deletecollection"):
        return False
    if not target.name and verb in ("update", "patch", "delete", "get"):
        return False
    if verb in ("create", "deletecollection") and kind.is_namespaced and target.namespace is None:
        return False
    return verb in kind.verbs


def _one(query: Query, name: str) -> str:
    return next(iter(query.get(name, ())), "")
