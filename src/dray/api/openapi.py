"""OpenAPI v3 documents, one for each group version, as kubectl reads them.

kubectl wants three things of them: a PATCH operation that takes `fieldValidation` (then it leaves validation to the
server), merge keys in the schemas (for client-side apply), and descriptions (for `explain`).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from dray.api.codec import get_codec
from dray.api.kind import JsonObject, Subresource
from dray.api.registry import AnyKind
from dray.api.schemas import SchemaBook

__all__ = ["build_openapi", "list_openapi_paths"]

PATCH_TYPES: Final = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
_COLLECTION_ACTIONS = {
    "create": ("post", "post"),
    "deletecollection": ("delete", "deletecollection"),
    "list": ("get", "list"),
}
_ITEM_ACTIONS = {
    "create": ("post", "post"),
    "delete": ("delete", "delete"),
    "get": ("get", "get"),
    "patch": ("patch", "patch"),
    "update": ("put", "put"),
}
_TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
_WRITE = {"dryRun": _TEXT, "fieldManager": _TEXT, "fieldValidation": _TEXT}
_DELETE = {"dryRun": _TEXT, "gracePeriodSeconds": _NUMBER, "orphanDependents": _FLAG, "propagationPolicy": _TEXT}
_LIST = {
    "allowWatchBookmarks": _FLAG,
    "continue": _TEXT,
    "fieldSelector": _TEXT,
    "labelSelector": _TEXT,
    "limit": _NUMBER,
    "resourceVersion": _TEXT,
    "resourceVersionMatch": _TEXT,
    "sendInitialEvents": _FLAG,
    "timeoutSeconds": _NUMBER,
    "watch": _FLAG,
}
_QUERY = {
    "delete": _DELETE,
    "deletecollection": {**_DELETE, **{name: _LIST[name] for name in ("fieldSelector", "labelSelector", "limit")}},
    "get": {},
    "list": _LIST,
    "patch": {**_WRITE, "force": _FLAG},
    "post": _WRITE,
    "put": _WRITE,
}
"""What each action takes besides its path, with the type of each."""
_DOCUMENT_VERSION = "3.0.0"


def list_openapi_paths(kinds: Iterable[AnyKind]) -> list[str]:
    """The group versions that have a document: `api/v1`, `apis/resource.k8s.io/v1`."""
    return sorted({_root(kind.group, version.name)[1:] for kind in kinds for version in kind.versions})


def build_openapi(kinds: Iterable[AnyKind], group: str, version: str) -> JsonObject:
    """The document of one group version: paths and schemas of every kind served there."""
    book = SchemaBook(group, version)
    paths: JsonObject = {}
    for kind in kinds:
        if kind.group == group and kind.find_version(version) is not None:
            gvk = {"group": group, "kind": kind.name, "version": version}
            name = book.add_kind(get_codec(kind, version).wire_struct, gvk)
            schema = book.refer(name)
            if "list" in kind.verbs:
                book.add_list(name, gvk)
            paths |= _paths(kind, version, gvk, schema)
    return {
        "openapi": _DOCUMENT_VERSION,
        "info": {"title": "dray", "version": version},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(book.schemas.items()))},
    }


def _root(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _paths(kind: AnyKind, version: str, gvk: Mapping[str, str], schema: JsonObject) -> JsonObject:
    root = _root(kind.group, version)
    collection = f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.is_namespaced else f"{root}/{kind.plural}"
    paths: JsonObject = {collection: _operations(kind.verbs, _COLLECTION_ACTIONS, gvk, schema)}
    item = _operations([verb for verb in kind.verbs if verb != "create"], _ITEM_ACTIONS, gvk, schema)
    if item:
        paths[f"{collection}/{{name}}"] = item
    if kind.is_namespaced and "list" in kind.verbs:
        paths[f"{root}/{kind.plural}"] = _operations(["list"], _COLLECTION_ACTIONS, gvk, schema)
    for each in kind.subresources:
        paths[f"{collection}/{{name}}/{each.name}"] = _subresource(each, gvk, schema)
    return {path: _parameters(path) | operations for path, operations in paths.items()}


def _subresource(subresource: Subresource, gvk: Mapping[str, str], schema: JsonObject) -> JsonObject:
    if subresource.kind:
        gvk = {
            "group": subresource.group or gvk["group"],
            "kind": subresource.kind,
            "version": subresource.version or gvk["version"],
        }
        schema = {"type": "object"}
    return _operations(subresource.verbs, _ITEM_ACTIONS, gvk, schema)


def _operations(
    verbs: Iterable[str], actions: Mapping[str, tuple[str, str]], gvk: Mapping[str, str], schema: JsonObject
) -> JsonObject:
    operations: JsonObject = {}
    for verb in verbs:
        if verb not in actions:
            continue
        method, action = actions[verb]
        operation: JsonObject = {
            "responses": _responses(action, schema),
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": dict(gvk),
        }
        if _QUERY[action]:
            operation["parameters"] = [
                {"in": "query", "name": name, "schema": type_} for name, type_ in _QUERY[action].items()
            ]
        if method in ("patch", "post", "put"):
            types = PATCH_TYPES if method == "patch" else ("application/json", "application/yaml")
            body = {"type": "object"} if method == "patch" else schema
            operation["requestBody"] = {"content": {each: {"schema": body} for each in types}, "required": True}
        operations[method] = operation
    return operations


def _responses(action: str, schema: JsonObject) -> JsonObject:
    """The codes of success, with what comes with them; a refusal is a Status, which needs no schema of its own."""
    if action == "list" and "$ref" in schema:
        schema = {"$ref": f"{schema['$ref']}List"}
    answer = {"content": {"application/json": {"schema": schema}}, "description": "OK"}
    if action in ("delete", "deletecollection"):
        answer = {"content": {"application/json": {"schema": {"type": "object"}}}, "description": "OK"}
    codes = {"post": ("200", "201"), "put": ("200", "201"), "patch": ("200", "201")}.get(action, ("200",))
    return dict.fromkeys(codes, answer)


def _parameters(path: str) -> JsonObject:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    if not names:
        return {}
    return {
        "parameters": [{"in": "path", "name": name, "required": True, "schema": {"type": "string"}} for name in names]
    }
