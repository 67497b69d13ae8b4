"""The client over HTTP that commands and parts of their own use, with the access that kubectl would have."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from dray.api.registry import AnyKind
from dray.client.connection import Connection
from dray.client.http import HttpClient, Surroundings, open_http_client
from dray.client.kubeconfig import Overrides, find_places, load_connection, read_kubeconfig
from dray.effects.clock import Clock
from dray.effects.entropy import SystemEntropy

__all__ = ["is_cluster_named", "wire_client", "wire_connected_client", "wire_connection"]


def wire_connection(
    environment: Mapping[str, str], *, kubeconfig: Path | None = None, context: str = "", namespace: str = ""
) -> Connection:
    """The server that a kubeconfig names, or else the one that kubectl would speak to, with the namespace meant there.

    Raises KubeconfigError, with the file and what is wrong in it.
    """
    return load_connection(find_places(environment, kubeconfig), Overrides(context=context, namespace=namespace))


def is_cluster_named(environment: Mapping[str, str]) -> bool:
    """Whether there is a kubeconfig where kubectl would look for one, or an own cluster. Raises KubeconfigError."""
    places = find_places(environment)
    return bool(read_kubeconfig(places).files) or places.own_cluster.is_there


def wire_connected_client(
    connection: Connection,
    environment: Mapping[str, str],
    clock: Clock,
    *,
    versions: Mapping[AnyKind, str] | None = None,
) -> AbstractAsyncContextManager[HttpClient]:
    """A client over a connection; `versions` are those to speak where they are not the newest."""
    return open_http_client(connection, Surroundings(clock, SystemEntropy(), environment), versions=versions)


def wire_client(
    environment: Mapping[str, str], clock: Clock, *, kubeconfig: Path | None = None, context: str = ""
) -> AbstractAsyncContextManager[HttpClient]:
    """A client of the server that a kubeconfig names, or else the one that kubectl would speak to.

    Raises KubeconfigError, with the file and what is wrong in it.
    """
    connection = wire_connection(environment, kubeconfig=kubeconfig, context=context)
    return wire_connected_client(connection, environment, clock)
