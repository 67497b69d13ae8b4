"""The clusters of one run of pytest: keys are made once, shared clusters live until the end."""

import re
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final

from dray.app.hosting import Ground
from dray.app.nodegroups import parse_node_groups
from dray.app.serverwire import wire_entropy
from dray.app.wire import wire_clock
from dray.effects.log import MemoryLog
from dray.server.identity.credentials import Credentials, ensure_credentials
from dray.server.identity.kubeconfig import Access, write_kubeconfig
from dray.store.memory import MemoryStore
from dray.testing.cluster import Cluster
from dray.testing.clusterthread import ClusterError, ClusterThread

__all__ = ["DEFAULT_NODES", "Clusters", "Scope", "running_cluster"]

DEFAULT_NODES: Final = ("dgx-h100",)
_MOST_LETTERS: Final = 40


class Scope(StrEnum):
    """How a test is kept apart from others: by a store of its own, or by a namespace of a cluster that is shared."""

    FUNCTION = "function"
    SESSION = "session"


class Clusters:
    """Makes clusters, and lends the shared ones. Closed by whoever made it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dray-")
        self._credentials: Credentials | None = None
        self._shared: dict[tuple[str, ...], ClusterThread] = {}
        self._threads: list[ClusterThread] = []
        self._count = 0

    @contextmanager
    def lend(
        self, nodes: Sequence[str] = DEFAULT_NODES, scope: str = Scope.FUNCTION, title: str = ""
    ) -> Generator[Cluster, None, None]:
        """A cluster for one test. `nodes` are as for `dray up --nodes`; `title` shows in the name of the namespace.

        Raises ClusterError, and what `parse_node_groups` raises.
        """
        is_shared = _parse_scope(scope) is Scope.SESSION
        thread = self._share(tuple(nodes)) if is_shared else self._start(nodes)
        self._count += 1
        namespace = f"{_name_after(title)}-{self._count}" if is_shared else "default"
        cluster = Cluster(thread, self._write(thread.url, namespace), namespace, is_shared=is_shared)
        try:
            yield cluster
        finally:
            cluster.release()

    def close(self) -> None:
        """End all clusters."""
        for thread in self._threads:
            thread.end()
        for thread in self._threads:
            thread.join()
        self._folder.cleanup()

    def _share(self, nodes: tuple[str, ...]) -> ClusterThread:
        if nodes not in self._shared:
            self._shared[nodes] = self._start(nodes)
        return self._shared[nodes]

    def _start(self, nodes: Sequence[str]) -> ClusterThread:
        groups = parse_node_groups(nodes)
        log = MemoryLog()
        clock = wire_clock()
        ground = Ground(
            store=MemoryStore(), credentials=self._ensure_credentials(), clock=clock, entropy=wire_entropy(), log=log
        )
        thread = ClusterThread(ground, groups, log)
        self._threads.append(thread)
        return thread

    def _ensure_credentials(self) -> Credentials:
        if self._credentials is None:
            folder = Path(self._folder.name) / "pki"
            self._credentials = ensure_credentials(folder, wire_clock().now().to_time())
        return self._credentials

    def _write(self, url: str, namespace: str) -> Path:
        credentials = self._ensure_credentials()
        file = Path(self._folder.name) / f"kubeconfig-{self._count}"
        access = Access(url, credentials.authority.certificate, client=credentials.admin, namespace=namespace)
        write_kubeconfig(file, access)
        return file


@contextmanager
def running_cluster(nodes: Sequence[str] = DEFAULT_NODES) -> Generator[Cluster, None, None]:
    """A cluster for the length of a block, for fixtures of your own and for scripts."""
    clusters = Clusters()
    try:
        with clusters.lend(nodes) as cluster:
            yield cluster
    finally:
        clusters.close()


def _parse_scope(text: str) -> Scope:
    try:
        return Scope(text)
    except ValueError:
        raise ClusterError(f"there is no scope {text!r}; try one of: {', '.join(Scope)}") from None


def _name_after(title: str) -> str:
    """A title as the beginning of a namespace's name."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_MOST_LETTERS].strip("-")
    return plain or "test"
