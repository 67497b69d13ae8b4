"""The verb patch: the stored object in the version of the request, changed as plain JSON, then written like an update.

Patches without a resourceVersion are applied anew if somebody else was quicker; server-side apply also creates.
"""

import json
import re
from typing import Any, Final

import msgspec

from dray.api.meta import ApiObject
from dray.api.writing import require_name, settle_namespace
from dray.client.port import PatchType
from dray.errors import ApiError, BadRequest, Conflict, Invalid, NotFound, ObjectRef, invalid
from dray.merge.apply import Writer, apply
from dray.merge.gotext import format_plain
from dray.merge.jsonpatch import apply_json_patch, decode_json_patch
from dray.merge.mergepatch import apply_merge_patch, decode_merge_patch
from dray.merge.strategic import apply_strategic_patch, decode_strategic_patch
from dray.merge.typed import JsonObject
from dray.server.changing import Change, change_stored, conflict
from dray.server.configurations import read_configuration
from dray.server.creating import create_applied
from dray.server.desk import Answer, Caller, Desk, missing
from dray.server.endpoints import Target
from dray.server.options import Validation, WriteQuery
from dray.server.ownership import get_scope, read_json
from dray.server.parts import find_plan
from dray.server.repetition import disown, drop_repeated_owners
from dray.store.port import Record
from dray.values.fieldpath import ROOT

__all__ = ["patch"]

_MISFIT: Final = re.compile(
    r"json: cannot unmarshal (?P<found>\w+)( (?P<number>\S+))? into Go struct field \S+ of type (?P<type>.+)"
)
_GO_KINDS: Final = {"object": "map", "array": "slice", "string": "string", "bool": "bool"}


async def patch(
    desk: Desk, target: Target, type_and_body: tuple[PatchType, bytes], options: WriteQuery, caller: Caller
) -> Answer:
    """Change a part of an object. Raises NotFound, Conflict, Invalid and what the kind of patch refuses."""
    type_, body = type_and_body
    if type_ is PatchType.APPLY:
        return await _apply(desk, target, body, options, caller)
    patcher = _Patcher(target, type_, body, options.validation)
    answer = await change_stored(
        desk,
        target,
        Change(patcher.make, "patch", find_plan(target.endpoint.kind.plural, target.subresource)),
        options,
        caller,
    )
    caller.warnings += patcher.warnings
    return answer


class _Patcher:
    """One patch, applied as often as it takes."""

    def __init__(self, target: Target, type_: PatchType, body: bytes, validation: str) -> None:
        self._target = target
        self._type = type_
        self._validation = validation
        self._operations: Any = None
        self._change: JsonObject = {}
        if type_ is PatchType.JSON:
            self._operations = decode_json_patch(body)
            self._faults = self._operations.strict_faults
        else:
            read = (decode_merge_patch if type_ is PatchType.MERGE else decode_strategic_patch)(body)
            self._change, self._faults = read.value, read.strict_faults
        self.warnings: list[str] = []

    def make(self, record: Record, old: ApiObject) -> ApiObject:
        """The patched object."""
        target = self._target
        document = read_json(target.endpoint.encode(old))
        patched = self._patch(document)
        if not isinstance(patched, dict):
            raise _refuse_patch(patched, "the result is no object")
        return self._read(patched)

    def _patch(self, document: JsonObject) -> Any:
        if self._type is PatchType.JSON:
            return apply_json_patch(document, self._operations)
        if self._type is PatchType.MERGE:
            return apply_merge_patch(document, self._change)
        schema = get_scope(self._target.endpoint, self._target.subresource).schema
        return apply_strategic_patch(schema, document, self._change)

    def _read(self, patched: JsonObject) -> ApiObject:
        target = self._target
        codec, kind = target.endpoint.codec, target.endpoint.kind
        self.warnings = []
        if self._type is PatchType.STRATEGIC:
            shown_text = format_plain(self._change)
        else:
            shown_text = json.dumps(patched, separators=(",", ":"), ensure_ascii=False)
        disown(patched)
        text = msgspec.json.encode(patched)
        try:
            thing: ApiObject = codec.decode(text)
        except BadRequest as fault:
            detail = fault.message.partition(f"cannot be handled as a {kind.name}: ")[2] or fault.message
            if self._type is PatchType.STRATEGIC:
                detail = _explain_conversion(detail)
            raise _refuse_patch(shown_text, detail) from fault
        self._judge_fields(text, shown_text)
        settled: ApiObject = require_name(kind, settle_namespace(kind, thing, target.namespace or ""), target.name)
        return drop_repeated_owners(settled, self.warnings, " after mutating admission happens")

    def _judge_fields(self, text: bytes, shown: str) -> None:
        """Refuse unknown and repeated fields, or warn of them."""
        if self._validation == Validation.IGNORE:
            return
        faults = [*self._faults, *map(str, self._target.endpoint.codec.find_strict_faults(text))]
        if faults and self._validation == Validation.STRICT:
            raise _refuse_patch(shown, f"strict decoding error: {', '.join(faults)}")
        self.warnings += faults


def _explain_conversion(detail: str) -> str:
    """A value of the wrong type, in the words of the conversion that such patches go through instead of decoding."""
    read = _MISFIT.fullmatch(detail)
    if read is None:
        return detail
    found = _GO_KINDS.get(read["found"], "float64" if "." in (read["number"] or "") else "int64")
    wanted = read["type"]
    if wanted.startswith("map["):
        return f"cannot restore map from {found}"
    if wanted.startswith("[]") and wanted != "[]uint8":
        return f"cannot restore slice from {found}"
    if "." in wanted:
        return f"cannot restore struct from: {found}"
    return f"cannot convert {found} to {wanted}" if read["found"] == "number" else f"unrecognized type: {wanted}"


def _refuse_patch(shown: object, detail: str) -> Invalid:
    return Invalid(ObjectRef(), [invalid(ROOT / "patch", shown, detail)])


async def _apply(desk: Desk, target: Target, body: bytes, options: WriteQuery, caller: Caller) -> Answer:
    configuration = read_configuration(body)
    if configuration.faults and configuration.is_typed:
        if options.validation == Validation.STRICT:
            raise BadRequest(f"error strict decoding patch: {configuration.strict_fault}")
        if options.validation == Validation.WARN:
            caller.warnings += configuration.faults
    config = configuration.value
    while True:
        if desk.view.record(target.key) is None:
            try:
                return await _create_applied(desk, target, config, options, caller)
            except ApiError as fault:
                if fault.reason == "AlreadyExists" and desk.view.record(target.key) is not None:
                    continue
                raise
        applier = _Applier(desk, target, config, options)
        plan = find_plan(target.endpoint.kind.plural, target.subresource)
        change = Change(applier.make, "patch", plan, tracks=False)
        try:
            return await change_stored(desk, target, change, options, caller)
        except NotFound:
            if target.subresource or desk.view.record(target.key) is not None:
                raise


class _Applier:
    """One configuration, applied to the stored object."""

    def __init__(self, desk: Desk, target: Target, config: JsonObject, options: WriteQuery) -> None:
        self._desk = desk
        self._target = target
        self._config = config
        self._options = options

    def make(self, record: Record, old: ApiObject) -> ApiObject:
        """The merged object with its owners."""
        target = self._target
        merged = self.merge(read_json(target.endpoint.encode(old)))
        metadata = self._config.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
        merged["metadata"] = {**merged["metadata"], "resourceVersion": version or ""}
        thing = _decode_applied(target, merged)
        kind = target.endpoint.kind
        settled: ApiObject = require_name(kind, settle_namespace(kind, thing, target.namespace or ""), target.name)
        return settled

    def merge(self, live: JsonObject | None) -> JsonObject:
        """The configuration laid over what is there."""
        target, options = self._target, self._options
        writer = Writer(options.field_manager, str(self._desk.now()))
        scope = get_scope(target.endpoint, target.subresource)
        return dict(apply(scope, live, self._config, writer, force=bool(options.force)))


def _decode_applied(target: Target, merged: JsonObject) -> ApiObject:
    thing: ApiObject = target.endpoint.codec.decode(msgspec.json.encode(merged))
    return thing


async def _create_applied(
    desk: Desk, target: Target, config: JsonObject, options: WriteQuery, caller: Caller
) -> Answer:
    """Create what is applied and not there."""
    if target.subresource:
        raise missing(target)
    merged = _Applier(desk, target, config, options).merge(None)
    thing = _decode_applied(target, merged)
    kind = target.endpoint.kind
    thing = require_name(kind, settle_namespace(kind, thing, target.namespace or ""), target.name)
    if thing.metadata.uid:
        about = target.ref
        raise Conflict(
            f'Operation cannot be fulfilled on {about.qualified_resource} "{about.name}": uid mismatch: the provided '
            f"object specified uid {thing.metadata.uid}, and no existing object was found",
            about,
        )
    if thing.metadata.resource_version:
        raise conflict(target)
    return await create_applied(desk, target, thing, options, caller)
