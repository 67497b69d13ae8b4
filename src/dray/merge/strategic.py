"""Strategic merge patches: merge patches that know which lists have keys.

Directives in a patch: `$patch: replace` and `$patch: delete` in an object or an item of a list, `$retainKeys`,
`$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`. Items are told apart by one merge key, unlike in
server-side apply.
"""

from typing import Any, Final

from dray.errors import BadRequest
from dray.merge.documents import PatchText, copy_value, read_object
from dray.merge.faults import PatchFailed, PatchRefused, refusing_depth
from dray.merge.gotext import format_plain, format_type
from dray.merge.listorder import arrange, key_of
from dray.merge.schema import ANYTHING, Field, ListSchema, ObjectSchema, PatchStrategy, Schema
from dray.merge.typed import JsonObject, resolve
from dray.values.quoting import quote

__all__ = ["apply_strategic_patch", "decode_strategic_patch"]

_DIRECTIVE: Final = "$patch"
_RETAIN_KEYS: Final = "$retainKeys"
_ORDER: Final = "$setElementOrder"
_DELETE_FROM: Final = "$deleteFromPrimitiveList"

_BAD_RETAIN_KEYS: Final = "invalid patch format of retainKeys"
_BAD_ORDER: Final = "invalid patch format of setElementOrder list"
_BAD_DELETION: Final = "invalid patch format of primitive list"


def decode_strategic_patch(text: bytes) -> PatchText:
    """Read a strategic merge patch. Raises BadRequest for what is no object."""
    read = read_object(text, prefix="")
    return read if read.value is not None else PatchText({})


@refusing_depth
def apply_strategic_patch(schema: ObjectSchema, document: JsonObject, patch: JsonObject) -> JsonObject:
    """The patched document. Raises `PatchFailed`, `PatchRefused` or BadRequest for a patch that cannot be applied."""
    return _merge_object(schema, copy_value(document), copy_value(patch))


def _merge_object(schema: Schema, live: JsonObject, patch: JsonObject) -> JsonObject:
    if _DIRECTIVE in patch:
        return _obey(patch)
    live, patch = _retain_keys(live, patch)
    for name in [name for name in patch if name.startswith(_ORDER)]:
        wanted = patch.pop(name)
        target = _target_of(name, _ORDER, _BAD_ORDER)
        _merge_ordered(schema, target, wanted, live, patch)
    for name, change in patch.items():
        if name.startswith(_DELETE_FROM):
            _delete_items(_target_of(name, _DELETE_FROM, _BAD_DELETION), change, live)
        else:
            _merge_field(schema, name, change, live)
    return live


def _obey(patch: JsonObject) -> JsonObject:
    if patch[_DIRECTIVE] == "replace":
        return {name: each for name, each in patch.items() if name != _DIRECTIVE}
    if patch[_DIRECTIVE] == "delete":
        return {}
    raise _unknown_directive(patch)


def _unknown_directive(patch: JsonObject) -> PatchFailed:
    return PatchFailed(f"unknown patch type: {format_plain(patch[_DIRECTIVE])} in map: {format_plain(patch)}")


def _retain_keys(live: JsonObject, patch: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Drop from `live` what the patch does not list, and the list from the patch."""
    if _RETAIN_KEYS not in patch:
        return live, patch
    retained = patch[_RETAIN_KEYS]
    rest = {name: each for name, each in patch.items() if name != _RETAIN_KEYS}
    if not isinstance(retained, list) or any(
        name not in retained
        for name, each in rest.items()
        if each is not None and not name.startswith((_ORDER, _DELETE_FROM))
    ):
        raise BadRequest(_BAD_RETAIN_KEYS)
    return {name: each for name, each in live.items() if name in retained}, rest


def _target_of(name: str, directive: str, complaint: str) -> str:
    """The list that a directive is about."""
    head, _, target = name.partition("/")
    if head != directive or "/" not in name:
        raise BadRequest(complaint)
    return target


def _merge_field(schema: Schema, name: str, change: Any, live: JsonObject) -> None:
    if change is None:
        live.pop(name, None)
        return
    current = live.get(name)
    if isinstance(current, dict) and isinstance(change, dict):
        field = _field_of(schema, name)
        replaced = field.patch is PatchStrategy.REPLACE
        live[name] = change if replaced else _merge_object(field.schema, current, change)
    elif isinstance(current, list) and isinstance(change, list):
        field = _field_of(schema, name)
        live[name] = _merge_list(field, current, change)
    elif isinstance(change, dict) and _DIRECTIVE in change:
        live.pop(name, None)
    else:
        live[name] = _clean(change)


def _field_of(schema: Schema, name: str) -> Field:
    """What is declared of a field. Only objects and lists are asked about: values of no declared type have none."""
    if isinstance(schema, ObjectSchema):
        if name in schema.fields:
            return schema.fields[name]
        if not schema.name and schema.element is not None:
            return Field(schema.element)
        type_name = schema.name
    else:
        type_name = ""
    raise PatchFailed(f"unable to find api field in struct {type_name} for the json field {quote(name)}")


def _clean(value: Any) -> Any:
    """What a patch sets where there was nothing to merge with: without nulls, and without objects with directives."""
    if isinstance(value, dict):
        return {name: _clean(each) for name, each in value.items() if each is not None and not _is_directive(each)}
    return [_clean(each) for each in value if not _is_directive(each)] if isinstance(value, list) else value


def _is_directive(value: Any) -> bool:
    return isinstance(value, dict) and _DIRECTIVE in value


def _merge_list(field: Field, live: list[Any], change: list[Any]) -> list[Any]:
    if field.patch is not PatchStrategy.MERGE:
        return change
    if not live and not change:
        return live
    if not isinstance(_sample(live, change), dict):
        merged = list({key_of(each, ""): each for each in (*live, *change)}.values())
        return arrange(merged, wanted=change, live=live, merge_key="")
    if not field.merge_key:
        raise PatchFailed(f"cannot merge lists without merge key for {_item_name(field)}")
    live, change = _obey_in_list(live, change, field.merge_key)
    merged = _merge_items(field, live, change)
    _require_keys(field.merge_key, merged, change, live)
    return arrange(merged, wanted=change, live=live, merge_key=field.merge_key)


def _item_name(field: Field) -> str:
    item = field.schema.item if isinstance(field.schema, ListSchema) else field.schema
    return item.name if isinstance(item, ObjectSchema) else ""


def _sample(*lists: list[Any]) -> Any:
    """The first item. Raises `PatchFailed` unless all items are of one type, `PatchRefused` for lists of lists."""
    items = [item for each in lists for item in each]
    if not items:
        raise PatchFailed("no elements in any of the given slices")
    if any(isinstance(item, list) for item in items):
        raise PatchRefused("lists of lists are not supported")
    if len({format_type(item) for item in items}) > 1:
        raise PatchFailed(f"list element types are not identical: {format_plain(list(lists))}")
    return items[0]


def _obey_in_list(live: list[Any], change: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Carry out the directives among the items of a patch; what is left of both lists."""
    plain = [item for item in change if _DIRECTIVE not in item]
    is_replaced = False
    for item in filter(_is_directive, change):
        directive = item[_DIRECTIVE]
        if directive == "delete":
            _require_keys(merge_key, [item])
            live = [each for each in live if key_of(each, merge_key) != key_of(item, merge_key)]
        elif directive == "replace":
            is_replaced = True
        elif directive == "merge":
            raise PatchFailed("merging lists cannot yet be specified in the patch")
        else:
            raise _unknown_directive(item)
    return (plain, []) if is_replaced else (live, plain)


def _merge_items(field: Field, live: list[Any], change: list[Any]) -> list[Any]:
    item_schema = field.schema.item if isinstance(field.schema, ListSchema) else ANYTHING
    merged = list(live)
    places = {key_of(item, field.merge_key): place for place, item in reversed(list(enumerate(live)))}
    for item in change:
        _require_keys(field.merge_key, [item])
        key = key_of(item, field.merge_key)
        if key in places:
            merged[places[key]] = _merge_object(resolve(item_schema, item), merged[places[key]], item)
        else:
            places[key] = len(merged)
            merged.append(item)
    return merged


def _require_keys(merge_key: str, *lists: list[Any]) -> None:
    for item in (item for each in lists for item in each):
        if not isinstance(item, dict):
            raise PatchFailed(f"expected a map[string]interface {{}}, but received a {format_type(item)}")
        if merge_key not in item:
            raise PatchFailed(f"map: {format_plain(item)} does not contain declared merge key: {merge_key}")


def _delete_items(name: str, doomed: Any, live: JsonObject) -> None:
    current = live.get(name)
    if doomed is None:
        live.pop(name, None)
    elif isinstance(current, list) and isinstance(doomed, list) and (current or doomed):
        _sample(current, doomed)
        gone = {key_of(item, "") for item in doomed}
        live[name] = [item for item in current if key_of(item, "") not in gone]


def _merge_ordered(schema: Schema, name: str, wanted: Any, live: JsonObject, patch: JsonObject) -> None:
    """Merge one list and put it in the order that the patch asks for; the patch is done with the list then."""
    current, change = live.get(name), patch.get(name)
    for each in (wanted, *((current,) if name in live else ()), *((change,) if name in patch else ())):
        if not isinstance(each, list):
            raise PatchFailed(f"expected a []interface {{}}, but received a {format_type(each)}")
    field = _field_of(schema, name)
    _check_order(field, change or [], wanted)
    if name not in live and name not in patch:
        return
    if name not in patch:
        merged = current or []
    else:
        merged = _clean(change) if name not in live else _merge_list(field, current or [], change or [])
    _sample(current or [], change or [])
    if field.merge_key:
        _require_keys(field.merge_key, merged, wanted)
    live[name] = arrange(merged, wanted=wanted, live=current or [], merge_key=field.merge_key)
    patch.pop(name, None)


def _check_order(field: Field, change: list[Any], wanted: list[Any]) -> None:
    """Refuse a patch whose items are not in the order it asks for."""
    if not wanted or not change:
        return
    if field.merge_key:
        _require_keys(field.merge_key, wanted, change)
    rest = iter(key_of(item, field.merge_key) for item in wanted)
    kept = (item for item in change if not _is_directive(item))
    if not all(key_of(item, field.merge_key) in rest for item in kept):
        lists = f"{format_plain(change)}\n doesn't match {_ORDER} list:\n{format_plain(wanted)}\n"
        raise PatchFailed(f"The order in patch list:\n{lists}")
