"""Documents that are the same for everyone and for the life of the process: discovery, OpenAPI, the version.

Made when first asked for, then served from memory with a tag, so that clients who have them already get 304.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from email.utils import format_datetime
from functools import cached_property
from typing import Final

import msgspec
from msgspec import Struct

from dray.api.codec import encode_value
from dray.api.discovery import aggregate_groups, list_groups, list_resources
from dray.api.openapi import build_openapi, list_openapi_paths
from dray.api.openapiv2 import build_openapi_v2
from dray.api.registry import AnyKind
from dray.server.negotiation import AGGREGATED, choose_discovery
from dray.server.openapiv2 import ASKED_OPENAPI_V2, MINIMAL_OPENAPI_V2, SENT_OPENAPI_V2
from dray.values.times import Time

__all__ = ["VERSION", "Document", "Documents"]

VERSION: Final[Mapping[str, str]] = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.0+dray",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "cpython",
    "platform": "linux/amd64",
}
"""Clients read the release out of this; kubectl prints `gitVersion`."""


class Document(Struct, frozen=True):
    """A body and what identifies it."""

    body: bytes
    media_type: str = "application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    etag: str = ""
    last_modified: str = ""


def _tagged(body: bytes, media_type: str) -> Document:
    tag = f'"{hashlib.sha512(body).hexdigest().upper()}"'
    headers = ((b"cache-control", b"public"), (b"etag", tag.encode()), (b"vary", b"Accept"))
    return Document(body, media_type, headers, etag=tag)


class Documents:
    """All documents of one set of kinds."""

    def __init__(self, kinds: Sequence[AnyKind], started: Time) -> None:
        self._kinds = kinds
        self._last_modified = format_datetime(started.to_datetime(), usegmt=True)
        self._made: dict[str, Document] = {}

    @cached_property
    def _group_versions(self) -> frozenset[tuple[str, str]]:
        return frozenset((kind.group, version.name) for kind in self._kinds for version in kind.versions)

    def find(self, path: str, accept: str) -> Document | None:
        """The document at a path, None if there is none."""
        parts = path.strip("/").split("/")
        match parts:
            case [""]:
                return self._once(path, self._index)
            case ["api"] | ["apis"]:
                return self._discover(parts[0], is_aggregated=choose_discovery(accept))
            case ["api", version]:
                return self._resources("", version)
            case ["apis", group]:
                return self._group(group)
            case ["apis", group, version] if group:
                return self._resources(group, version)
            case ["apis", "apiextensions.k8s.io", "v1", "customresourcedefinitions"]:
                return Document(_NO_DEFINITIONS)
            case ["version"]:
                return self._once(path, lambda: Document(msgspec.json.encode(VERSION)))
            case ["openapi", *rest]:
                return self._find_openapi(path, rest, accept)
        return None

    def _find_openapi(self, path: str, parts: Sequence[str], accept: str) -> Document | None:
        match parts:
            case ["v2"] if ASKED_OPENAPI_V2 in accept:
                return Document(MINIMAL_OPENAPI_V2, SENT_OPENAPI_V2)
            case ["v2"] if "application/json" in accept:
                return self._once(path, self._openapi_v2)
            case ["v3"]:
                return self._once(path, self._openapi_index)
            case ["v3", "api", version]:
                return self._openapi("", version)
            case ["v3", "apis", group, version]:
                return self._openapi(group, version)
        return None

    def _once(self, name: str, make: Callable[[], Document]) -> Document:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = make()
        return found

    def _index(self) -> Document:
        """What there is, by path."""
        roots = {f"/apis/{group}/{version}" if group else f"/api/{version}" for group, version in self._group_versions}
        groups = {f"/apis/{group}" for group, _ in self._group_versions if group}
        return Document(msgspec.json.encode({"paths": sorted({*_PATHS, *groups, *roots})}))

    def _discover(self, root: str, *, is_aggregated: bool) -> Document:
        if is_aggregated:
            return self._once(
                f"{root} aggregated",
                lambda: _tagged(encode_value(aggregate_groups(self._kinds, core=root == "api")) + b"\n", AGGREGATED),
            )
        if root == "api":
            return self._once("api", lambda: _tagged(msgspec.json.encode(_CORE_VERSIONS) + b"\n", "application/json"))
        return self._once("apis", lambda: _tagged(encode_value(list_groups(self._kinds)) + b"\n", "application/json"))

    def _group(self, group: str) -> Document | None:
        for found in list_groups(self._kinds).groups:
            if found.name == group:
                named = msgspec.structs.replace(found, kind="APIGroup", api_version="v1")
                return Document(encode_value(named) + b"\n")
        return None

    def _resources(self, group: str, version: str) -> Document | None:
        if (group, version) not in self._group_versions:
            return None
        return self._once(
            f"resources {group}/{version}",
            lambda: Document(encode_value(list_resources(self._kinds, group, version)) + b"\n"),
        )

    def _openapi_index(self) -> Document:
        paths = {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self._openapi_tag}"}
            for path in list_openapi_paths(self._kinds)
        }
        headers = ((b"last-modified", self._last_modified.encode()), (b"vary", b"Accept"))
        body = msgspec.json.encode({"paths": paths})
        return Document(body, "text/plain; charset=utf-8", headers, last_modified=self._last_modified)

    @cached_property
    def _openapi_tag(self) -> str:
        """Changes with the release, so that clients who keep documents by it for long get new ones."""
        names = sorted(f"{group}/{version}" for group, version in self._group_versions)
        return hashlib.sha256("\n".join((VERSION["gitVersion"], self._last_modified, *names)).encode()).hexdigest()[:32]

    def _openapi_v2(self) -> Document:
        return _tagged(msgspec.json.encode(build_openapi_v2(self._kinds)), "application/json")

    def _openapi(self, group: str, version: str) -> Document | None:
        if (group, version) not in self._group_versions:
            return None
        return self._once(
            f"openapi {group}/{version}",
            lambda: _tagged(msgspec.json.encode(build_openapi(self._kinds, group, version)), "application/json"),
        )


_PATHS: Final = frozenset(
    {
        *("/.well-known/openid-configuration", "/api", "/apis", "/apis/", "/healthz", "/healthz/ping", "/livez"),
        *("/livez/ping", "/metrics", "/openapi/v2", "/openapi/v3", "/openid/v1/jwks", "/readyz", "/readyz/ping"),
        "/version",
    }
)
"""What is no group version."""
_NO_DEFINITIONS: Final = (
    b'{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{},"items":[]}\n'
)
"""What kubectl asks for before it says that there is no such kind; without an answer it says something else."""
_CORE_VERSIONS: Final = {
    "kind": "APIVersions",
    "versions": ["v1"],
    "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}],
}
