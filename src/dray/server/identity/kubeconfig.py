"""Kubeconfig files that give access to this server."""

import base64
from collections.abc import Mapping
from pathlib import Path

import yaml
from msgspec import Struct

from dray.server.identity.certificates import KeyPair
from dray.server.identity.credentials import write_private

__all__ = ["Access", "render_kubeconfig", "write_kubeconfig"]


class Access(Struct, frozen=True):
    """Where the server is, and as whom to come: with a client certificate, or with a token."""

    server: str
    authority: bytes
    user: str = "kubernetes-admin"
    client: KeyPair | None = None
    token: str = ""
    name: str = "dray"
    namespace: str = ""
    """Where commands look that name none; empty for `default`."""


def render_kubeconfig(access: Access) -> str:
    """One cluster, one user and one context, with everything that is needed embedded."""
    context = f"{access.user}@{access.name}"
    cluster = {"server": access.server, "certificate-authority-data": _encode(access.authority)}
    place = {"cluster": access.name, "user": access.user} | (
        {"namespace": access.namespace} if access.namespace else {}
    )
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": access.name, "cluster": cluster}],
        "users": [{"name": access.user, "user": _credentials(access)}],
        "contexts": [{"name": context, "context": place}],
        "current-context": context,
        "preferences": {},
    }
    text: str = yaml.safe_dump(config, sort_keys=False, width=10_000)
    return text


def write_kubeconfig(file: Path, access: Access) -> None:
    """Write it where only its owner can read it."""
    write_private(file, render_kubeconfig(access).encode())


def _credentials(access: Access) -> Mapping[str, str]:
    if access.client is None:
        return {"token": access.token}
    return {
        "client-certificate-data": _encode(access.client.certificate),
        "client-key-data": _encode(access.client.key),
    }


def _encode(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
