"""kubeconfig files: found as kubectl finds them, then one context picked and made a `Connection`.

Paths in a file are relative to that file. Apart from reading files everything here is pure: what comes from the
environment is handed in as `KubeconfigPlaces`.
"""

import base64
import binascii
import difflib
import json
import os.path
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from dray.client.connection import Connection, ExecPlugin, Login, Pem, ProxyRules, Trust
from dray.client.execplugin import API_VERSIONS
from dray.client.incluster import OwnCluster, connect_to_own_cluster
from dray.client.kubefile import (
    ClusterEntry,
    ContextEntry,
    ExecEntry,
    Found,
    KubeconfigError,
    MergedFiles,
    UserEntry,
    merge_files,
)

__all__ = ["KubeconfigPlaces", "Overrides", "find_places", "load_connection", "pick_connection", "read_kubeconfig"]

_CLUSTER_EXTENSION: Final = "client.authentication.k8s.io/exec"
"""The extension of a cluster that is handed to credential plugins."""


class KubeconfigPlaces(Struct, frozen=True):
    """Where a kubeconfig may be, from the strongest to the weakest."""

    file: Path | None = None
    """Named by a flag: it alone counts, and it must be there."""
    search_path: str = ""
    """KUBECONFIG: files that are merged; those that are missing are skipped."""
    home: Path | None = None
    """Where `.kube/config` is, if nothing else is said."""
    own_cluster: OwnCluster = OwnCluster()
    """What a program in a pod falls back to where there is no file at all."""


def find_places(environment: Mapping[str, str], file: Path | None = None) -> KubeconfigPlaces:
    """Where a program with these variables looks for a kubeconfig, as kubectl does. `file` is what a flag names."""
    home = environment.get("HOME")
    return KubeconfigPlaces(
        file=file,
        search_path=environment.get("KUBECONFIG", ""),
        home=Path(home) if home else None,
        own_cluster=OwnCluster(
            host=environment.get("KUBERNETES_SERVICE_HOST", ""), port=environment.get("KUBERNETES_SERVICE_PORT", "")
        ),
    )


class Overrides(Struct, frozen=True):
    """What flags say against the files."""

    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    proxy_rules: ProxyRules = ProxyRules()


def load_connection(places: KubeconfigPlaces, overrides: Overrides | None = None) -> Connection:
    """The connection that kubectl would use in the same place. Raises KubeconfigError."""
    overrides = overrides or Overrides()
    merged = read_kubeconfig(places)
    if merged.files:
        return pick_connection(merged, overrides)
    if places.own_cluster.is_there:
        connection = connect_to_own_cluster(places.own_cluster)
        return replace(connection, namespace=overrides.namespace or connection.namespace)
    looked = ", ".join(map(str, _list_files(places))) or "no place to look at"
    hint = "`dray up -d` starts a cluster and says where its kubeconfig is; name one with --kubeconfig or KUBECONFIG"
    raise KubeconfigError(looked, "no kubeconfig there", hint=hint)


def read_kubeconfig(places: KubeconfigPlaces) -> MergedFiles:
    """All files that are there, merged. Raises KubeconfigError for one that cannot be read."""
    texts = []
    for file in _list_files(places):
        try:
            texts.append((file, file.read_text(encoding="utf-8")))
        except FileNotFoundError as fault:
            if file == places.file:
                raise KubeconfigError(str(file), "no such file", hint=_suggest_file(file)) from fault
        except (OSError, UnicodeDecodeError) as fault:
            detail = fault.strerror if isinstance(fault, OSError) else "is not text in UTF-8"
            raise KubeconfigError(str(file), detail or "cannot be read") from fault
    return merge_files(texts)


def _list_files(places: KubeconfigPlaces) -> list[Path]:
    if places.file is not None:
        return [places.file]
    named = [Path(part) for part in places.search_path.split(os.path.pathsep) if part]
    if named:
        return list(dict.fromkeys(named))
    return [places.home / ".kube" / "config"] if places.home is not None else []


def _suggest_file(file: Path) -> str:
    folder = file.parent
    names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    closest = difflib.get_close_matches(file.name, names, n=1)
    return f"did you mean {folder / closest[0]}?" if closest else "check the path"


def pick_connection(merged: MergedFiles, overrides: Overrides) -> Connection:
    """Follow a context to its cluster and user. Raises KubeconfigError where the chain breaks."""
    context = _pick_context(merged, overrides)
    place = _describe_files(merged)
    cluster_name = overrides.cluster or context.cluster
    cluster = merged.clusters.get(cluster_name)
    if cluster is None:
        raise _unknown(place, "cluster", cluster_name, merged.clusters)
    user_name = overrides.user or context.user
    user = merged.users.get(user_name)
    if user is None and user_name:
        raise _unknown(place, "user", user_name, merged.users)
    return Connection(
        server=_read_server(cluster, f"cluster {cluster_name}"),
        namespace=overrides.namespace or context.namespace or "default",
        trust=_read_trust(cluster, f"cluster {cluster_name}"),
        login=_read_login(user, f"user {user_name}", cluster) if user else Login(),
        proxy=cluster.entry.proxy_url,
        proxy_rules=overrides.proxy_rules,
        is_compressed=not cluster.entry.disable_compression,
    )


def _pick_context(merged: MergedFiles, overrides: Overrides) -> ContextEntry:
    place = _describe_files(merged)
    name = overrides.context or merged.current_context
    if not name:
        if overrides.cluster:
            return ContextEntry()
        known = ", ".join(merged.contexts) or "none"
        raise KubeconfigError(place, "no current-context", hint=f"name a context with --context; there are: {known}")
    found = merged.contexts.get(name)
    if found is None:
        raise _unknown(place, "context", name, merged.contexts)
    return found.entry


def _describe_files(merged: MergedFiles) -> str:
    return ", ".join(map(str, merged.files))


def _unknown(place: str, what: str, name: str, known: Iterable[str]) -> KubeconfigError:
    names = list(known)
    closest = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {closest[0]}?" if closest else f"there are: {', '.join(names) or 'none'}"
    return KubeconfigError(
        place, f"no {what} is called {name!r}" if name else f"the context names no {what}", hint=hint
    )


def _read_server(cluster: Found[ClusterEntry], what: str) -> str:
    entry = cluster.entry
    place = f"{cluster.file}: {what}"
    if not entry.server:
        raise KubeconfigError(place, "has no server", hint="set server: https://HOST:PORT")
    server = entry.server
    if "://" not in server:
        is_secure = entry.certificate_authority or entry.certificate_authority_data or entry.insecure_skip_tls_verify
        server = f"{'https' if is_secure else 'http'}://{server}"
    parts = urlsplit(server)
    try:
        is_sound = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        is_sound = False
    if not is_sound:
        raise KubeconfigError(place, f"server {entry.server!r} is no address", hint="it looks like https://HOST:PORT")
    return server.rstrip("/")


def _read_trust(cluster: Found[ClusterEntry], what: str) -> Trust:
    entry, place = cluster.entry, f"{cluster.file}: {what}"
    name, given = "certificate-authority", (entry.certificate_authority_data, entry.certificate_authority)
    authority = _read_pem(place, cluster.file, name, given)
    if entry.insecure_skip_tls_verify and authority is not None:
        hint = "drop insecure-skip-tls-verify: with the authority the server can be verified"
        raise KubeconfigError(place, "has both insecure-skip-tls-verify and a certificate authority", hint=hint)
    return Trust(authority, entry.tls_server_name, not entry.insecure_skip_tls_verify)


def _read_login(user: Found[UserEntry], what: str, cluster: Found[ClusterEntry]) -> Login:
    entry, place = user.entry, f"{user.file}: {what}"
    if entry.auth_provider is not None and entry.exec is None:
        provider = entry.auth_provider.get("name", "")
        hint = "auth providers are gone from Kubernetes since 1.26; use an exec plugin"
        raise KubeconfigError(place, f"needs the auth provider {provider!r}", hint=hint)
    certificate, key = _read_pair(user, what)
    return Login(
        certificate=certificate,
        key=key,
        token=entry.token.strip(),
        token_file=_resolve(user.file, entry.token_file) if entry.token_file else None,
        username=entry.username,
        password=entry.password,
        plugin=_read_plugin(Found(entry.exec, user.file), place, cluster) if entry.exec is not None else None,
        impersonation=tuple(_list_impersonation(entry)),
    )


def _read_pair(user: Found[UserEntry], what: str) -> tuple[Pem | None, Pem | None]:
    entry, place = user.entry, f"{user.file}: {what}"
    shown = (entry.client_certificate_data, entry.client_certificate)
    certificate = _read_pem(place, user.file, "client-certificate", shown)
    key = _read_pem(place, user.file, "client-key", (entry.client_key_data, entry.client_key))
    if (certificate is None) != (key is None):
        has, lacks = ("certificate", "key") if key is None else ("key", "certificate")
        hint = f"set client-{lacks} or client-{lacks}-data"
        raise KubeconfigError(place, f"has a client {has} without a {lacks}", hint=hint)
    return certificate, key


def _read_plugin(plugin: Found[ExecEntry], place: str, cluster: Found[ClusterEntry]) -> ExecPlugin:
    entry = plugin.entry
    if entry.api_version not in API_VERSIONS:
        hint = f"use {' or '.join(API_VERSIONS)}"
        raise KubeconfigError(place, f"exec: apiVersion {entry.api_version!r} is not spoken here", hint=hint)
    if not entry.command:
        raise KubeconfigError(place, "exec: has no command", hint="set command to the plugin's name or path")
    if entry.interactive_mode == "Always":
        hint = "run it once with kubectl, or use a plugin that needs no terminal"
        raise KubeconfigError(place, "exec: the plugin asks questions on a terminal", hint=hint)
    has_folder = os.path.basename(entry.command) != entry.command
    return ExecPlugin(
        api_version=entry.api_version,
        command=str(_resolve(plugin.file, entry.command)) if has_folder else entry.command,
        arguments=tuple(entry.args or ()),
        environment={each.name: each.value for each in entry.env or ()},
        install_hint=entry.install_hint,
        gets_cluster=entry.provide_cluster_info,
        cluster=_describe_cluster(cluster) if entry.provide_cluster_info else b"",
    )


def _describe_cluster(cluster: Found[ClusterEntry]) -> bytes:
    """What a plugin is told of the cluster it gives credentials for."""
    entry = cluster.entry
    authority = entry.certificate_authority_data
    if not authority and entry.certificate_authority:
        authority = base64.b64encode(_resolve(cluster.file, entry.certificate_authority).read_bytes()).decode("ascii")
    told: dict[str, object] = {
        "server": entry.server,
        "tls-server-name": entry.tls_server_name,
        "insecure-skip-tls-verify": bool(entry.insecure_skip_tls_verify),
        "certificate-authority-data": authority,
        "proxy-url": entry.proxy_url,
        "disable-compression": bool(entry.disable_compression),
    }
    for each in entry.extensions or ():
        if each.name == _CLUSTER_EXTENSION:
            told["config"] = json.loads(bytes(each.extension))
    return json.dumps({name: value for name, value in told.items() if value}).encode()


def _list_impersonation(entry: UserEntry) -> Iterable[tuple[str, str]]:
    if entry.as_user:
        yield "Impersonate-User", entry.as_user
    if entry.as_uid:
        yield "Impersonate-Uid", entry.as_uid
    for group in entry.as_groups or ():
        yield "Impersonate-Group", group
    for name, values in (entry.as_user_extra or {}).items():
        for value in values:
            yield f"Impersonate-Extra-{quote(name, safe='')}", value


def _read_pem(place: str, file: Path, field: str, given: tuple[str, str]) -> Pem | None:
    """A PEM text that is given in base64, which goes first, or as a path."""
    text, path = given
    if not text:
        return _resolve(file, path) if path else None
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error as fault:
        hint = f"it is the PEM file in base64; a path belongs into {field}"
        raise KubeconfigError(place, f"{field}-data is no base64", hint=hint) from fault


def _resolve(file: Path, path: str) -> Path:
    return file.parent / path  # an absolute path stays as it is
