"""What an API server serves, by the names that people use: `pods`, `po`, `pod`, `resourceclaims.resource.k8s.io`."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from dray.api.discovery import APIGroupDiscoveryList
from dray.errors import DrayError

__all__ = ["DISCOVERY_TYPES", "Resource", "Resources", "UnknownResource", "decode_resources"]

DISCOVERY_TYPES: Final = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")
)
"""What discovery is asked for: everything at once, which servers tell since Kubernetes 1.26."""


class UnknownResource(DrayError):
    """The server serves nothing of this name; `hint` says what may have been meant."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.hint = hint


class Resource(Struct, frozen=True):
    """A kind of objects as one version of its group serves it."""

    group: str
    version: str
    plural: str
    kind: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    is_namespaced: bool = True
    verbs: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """As objects say it: `v1`, `resource.k8s.io/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def title(self) -> str:
        """How one object is named to people: `pod`, `resourceclaim.resource.k8s.io`."""
        name = self.singular or self.kind.lower()
        return f"{name}.{self.group}" if self.group else name

    @property
    def words(self) -> frozenset[str]:
        """Everything it may be called, in lower case."""
        names = {self.plural, self.singular, self.kind.lower(), *self.short_names} - {""}
        full = {f"{name}.{self.group}" for name in names if self.group}
        return frozenset(names | full | {f"{self.plural}.{self.version}.{self.group}".rstrip(".")})

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Where its objects are: all of them, those of a namespace, one, or what is below one."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if namespace and self.is_namespaced:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "".join(f"/{quote(part, safe='')}" for part in parts)


class Resources:
    """Everything that is served. Of what several groups or versions serve under one name, the first counts."""

    def __init__(self, served: Sequence[Resource]) -> None:
        self._served = served

    def find(self, word: str) -> Resource:
        """The resource that a person calls `word`. Raises UnknownResource."""
        asked = word.lower()
        for each in self._served:
            if asked in each.words:
                return each
        words = sorted({name for each in self._served for name in each.words})
        raise UnknownResource(f'the server has no resource "{word}"', hint=_suggest(asked, words))

    def find_kind(self, api_version: str, kind: str) -> Resource:
        """The resource whose objects say so of themselves. Raises UnknownResource."""
        for each in self._served:
            if (each.api_version, each.kind) == (api_version, kind):
                return each
        others = [each.api_version for each in self._served if each.kind == kind]
        hint = f"apiVersion: {others[0]}" if others else _suggest(kind, sorted({each.kind for each in self._served}))
        raise UnknownResource(f"the server has no kind {kind} in {api_version}", hint=hint)


def decode_resources(bodies: Iterable[bytes]) -> Resources:
    """What discovery says, the core group first. Raises UnknownResource for an answer in an older form."""
    return Resources([each for body in bodies for each in _decode(body)])


def _decode(body: bytes) -> Iterator[Resource]:
    try:
        groups = msgspec.json.decode(body, type=APIGroupDiscoveryList)
    except msgspec.DecodeError as fault:
        raise UnknownResource(f"the server's discovery cannot be read: {fault}") from fault
    if groups.kind != "APIGroupDiscoveryList":
        raise UnknownResource("the server does not tell what it serves in one answer", hint="Kubernetes 1.26 or newer")
    for group in groups.items:
        for version in group.versions:
            for each in version.resources:
                yield Resource(
                    group=group.metadata.name,
                    version=version.version,
                    plural=each.resource,
                    kind=each.response_kind.kind,
                    singular=each.singular_resource,
                    short_names=each.short_names,
                    is_namespaced=each.scope == "Namespaced",
                    verbs=each.verbs,
                )


def _suggest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]}?" if close else "pods, nodes, resourceclaims or any other kind that it serves"
