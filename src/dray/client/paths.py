"""Where objects are found: the path and the query of every request."""

from urllib.parse import quote, urlencode

from dray.api.registry import AnyKind
from dray.client.port import ListOptions, ObjectName, WatchOptions, WriteOptions

__all__ = ["collection_path", "list_query", "object_path", "watch_query", "write_query"]

Query = list[tuple[str, str]]


def collection_path(kind: AnyKind, version: str, namespace: str | None) -> str:
    """Objects of a kind: all, or those of a namespace. Objects of the cluster have one collection only."""
    start = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    if namespace and kind.is_namespaced:
        start = f"{start}/namespaces/{quote(namespace, safe='')}"
    return f"{start}/{kind.plural}"


def object_path(kind: AnyKind, version: str, name: ObjectName, subresource: str = "") -> str:
    """One object, or a subresource of it. Raises ValueError for a name that would lead elsewhere."""
    if not name.name or name.name in (".", ".."):
        raise ValueError(f"no object can be called {name.name!r}")
    path = f"{collection_path(kind, version, name.namespace)}/{quote(name.name, safe='')}"
    return f"{path}/{subresource}" if subresource else path


def list_query(options: ListOptions) -> str:
    """What a list is narrowed to."""
    return _join(
        [
            ("continue", options.continue_token),
            ("fieldSelector", options.field_selector),
            ("labelSelector", options.label_selector),
            ("limit", str(options.limit) if options.limit else ""),
            ("resourceVersion", options.resource_version),
            ("resourceVersionMatch", options.resource_version_match),
        ]
    )


def watch_query(options: WatchOptions) -> str:
    """What a watch is narrowed to, and how it begins."""
    begins_with_all = options.send_initial_events
    return _join(
        [
            ("allowWatchBookmarks", "true" if options.allow_bookmarks else ""),
            ("fieldSelector", options.field_selector),
            ("labelSelector", options.label_selector),
            ("resourceVersion", options.resource_version),
            ("resourceVersionMatch", "NotOlderThan" if begins_with_all else ""),
            ("sendInitialEvents", "true" if begins_with_all else ""),
            ("timeoutSeconds", "" if options.timeout_seconds is None else str(options.timeout_seconds)),
            ("watch", "true"),
        ]
    )


def write_query(options: WriteOptions) -> str:
    """How a write is made."""
    return _join(
        [
            ("dryRun", "All" if options.is_dry_run else ""),
            ("fieldManager", options.field_manager),
            ("force", "true" if options.force else ""),
        ]
    )


def _join(pairs: Query) -> str:
    return urlencode([(name, value) for name, value in pairs if value])
