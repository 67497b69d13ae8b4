"""The text of kubeconfig files: one file read, several merged. What it means is decided in `kubeconfig`.

Of several files each name (cluster, user, context) belongs whole to the first that has it, and `current-context` to the
first that sets it, as in kubectl.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from dray.api.yamltext import YamlError, parse_yaml_documents
from dray.errors import DrayError

__all__ = [
    "ClusterEntry",
    "ContextEntry",
    "EnvironmentEntry",
    "ExecEntry",
    "Found",
    "KubeconfigError",
    "MergedFiles",
    "NamedExtension",
    "UserEntry",
    "merge_files",
]

T = TypeVar("T")


_OTHER: Final = "a kubeconfig that works, by --kubeconfig or KUBECONFIG"


class KubeconfigError(DrayError):
    """A kubeconfig cannot be used. `place` is the file, and the entry in it; `hint` says what to do."""

    def __init__(self, place: str, message: str, *, hint: str = "") -> None:
        text = f"{place}: {message}" if place else message
        super().__init__(f"{text}; {hint}" if hint else text)
        self.place = place
        self.hint = hint or _OTHER


class NamedExtension(Struct):
    """Something that a tool keeps in the file."""

    name: str = ""
    extension: msgspec.Raw = msgspec.Raw(b"null")


class ClusterEntry(Struct, rename="kebab"):
    """How to reach a server."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool | None = None
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool | None = None
    extensions: list[NamedExtension] | None = None


class EnvironmentEntry(Struct):
    """A variable for a credential plugin."""

    name: str
    value: str = ""


class ExecEntry(Struct, rename="camel"):
    """A credential plugin."""

    command: str = ""
    api_version: str = ""
    args: list[str] | None = None
    env: list[EnvironmentEntry] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class UserEntry(Struct, rename="kebab"):
    """Who somebody is."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    as_user: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: list[str] | None = None
    as_user_extra: dict[str, list[str]] | None = None
    exec: ExecEntry | None = None
    auth_provider: dict[str, object] | None = None


class ContextEntry(Struct, rename="kebab"):
    """A cluster, a user and a namespace under one name."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(Struct):
    name: str
    cluster: ClusterEntry | None = None


class _NamedUser(Struct):
    name: str
    user: UserEntry | None = None


class _NamedContext(Struct):
    name: str
    context: ContextEntry | None = None


class _Kubefile(Struct, rename="kebab"):
    kind: str = msgspec.field(default="", name="kind")
    current_context: str | None = None
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """An entry and the file it stands in, to which its paths are relative."""

    entry: T
    file: Path


@dataclass(slots=True)
class MergedFiles:
    """All entries by name."""

    current_context: str = ""
    clusters: dict[str, Found[ClusterEntry]] = field(default_factory=dict)
    users: dict[str, Found[UserEntry]] = field(default_factory=dict)
    contexts: dict[str, Found[ContextEntry]] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    """Where it all came from, in order."""


def merge_files(texts: Mapping[Path, str] | Iterable[tuple[Path, str]]) -> MergedFiles:
    """Merge the texts of files, the first of them first. Raises KubeconfigError."""
    merged = MergedFiles()
    pairs = texts.items() if isinstance(texts, Mapping) else texts
    for file, text in pairs:
        parsed = _parse_file(file, text)
        merged.files.append(file)
        merged.current_context = merged.current_context or parsed.current_context or ""
        for cluster in parsed.clusters or ():
            merged.clusters.setdefault(cluster.name, Found(cluster.cluster or ClusterEntry(), file))
        for user in parsed.users or ():
            merged.users.setdefault(user.name, Found(user.user or UserEntry(), file))
        for context in parsed.contexts or ():
            merged.contexts.setdefault(context.name, Found(context.context or ContextEntry(), file))
    return merged


def _parse_file(file: Path, text: str) -> _Kubefile:
    try:
        documents = list(parse_yaml_documents(text))
        if not documents:
            return _Kubefile()
        parsed = msgspec.json.decode(documents[0].json, type=_Kubefile)
    except YamlError as fault:
        raise KubeconfigError(f"{file}:{fault.line}", fault.message) from fault
    except msgspec.DecodeError as fault:
        hint = "put the value in quotes" if "Expected `str`" in str(fault) else "compare with `kubectl config view`"
        raise KubeconfigError(str(file), str(fault), hint=hint) from fault
    if parsed.kind not in ("", "Config"):
        raise KubeconfigError(str(file), f"is a {parsed.kind}, not a Config", hint="name a kubeconfig file")
    return parsed
