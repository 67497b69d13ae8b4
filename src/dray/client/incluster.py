"""The API server that a pod is told about: the files of its service account and two variables."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from dray.client.connection import Connection, Login, Trust
from dray.client.kubefile import KubeconfigError

__all__ = ["OwnCluster", "connect_to_own_cluster"]

_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class OwnCluster(Struct, frozen=True):
    """What tells a program that it runs in a pod."""

    host: str = ""
    """KUBERNETES_SERVICE_HOST."""
    port: str = ""
    """KUBERNETES_SERVICE_PORT."""
    account: Path = _ACCOUNT
    """Where the service account's files are."""

    @property
    def is_there(self) -> bool:
        """Whether this is a pod with a service account."""
        return bool(self.host and self.port) and self.account.joinpath("token").is_file()


def connect_to_own_cluster(own: OwnCluster) -> Connection:
    """The cluster this pod runs in, as its service account. Raises KubeconfigError outside of pods."""
    if not own.is_there:
        hint = "this only works in a pod whose service account token is mounted"
        raise KubeconfigError(str(own.account), "no service account to be found", hint=hint)
    host = f"[{own.host}]" if ":" in own.host else own.host
    namespace = own.account / "namespace"
    return Connection(
        server=f"https://{host}:{own.port}",
        namespace=namespace.read_text(encoding="utf-8").strip() if namespace.is_file() else "default",
        trust=Trust(authority=own.account / "ca.crt"),
        login=Login(token_file=own.account / "token"),
    )
