"""How to reach an API server and how to be known to it: the values that kubeconfig files end in."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

__all__ = ["Connection", "ExecPlugin", "Login", "Pem", "ProxyRules", "Trust"]

Pem = bytes | Path
"""Certificates or keys as text, or the file that has them; a file is read again when it changes."""


class Trust(Struct, frozen=True):
    """What makes the server's certificate good."""

    authority: Pem | None = None
    """Who may have signed it; None: whom the machine trusts."""
    server_name: str = ""
    """The name it must have; empty: the host of the address."""
    is_verified: bool = True
    """False takes any certificate. Only for tests: whoever is on the way can read along and act."""


class ExecPlugin(Struct, frozen=True):
    """A program that hands out credentials, by the contract of client.authentication.k8s.io."""

    api_version: str
    command: str
    """A name on the PATH, or a path."""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    """What is added to the environment it runs in."""
    install_hint: str = ""
    gets_cluster: bool = False
    """Whether it is told which cluster the credentials are for."""
    cluster: bytes = b""
    """That cluster, as JSON."""


class Login(Struct, frozen=True):
    """Who we are. Of several ways given, the server judges all; a token file goes before a token."""

    certificate: Pem | None = None
    key: Pem | None = None
    token: str = ""
    token_file: Path | None = None
    username: str = ""
    password: str = ""
    plugin: ExecPlugin | None = None
    impersonation: tuple[tuple[str, str], ...] = ()
    """Headers that ask to act as somebody else."""


class ProxyRules(Struct, frozen=True):
    """Which proxy leads where, as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say it."""

    https: str = ""
    http: str = ""
    exempt: str = ""
    """Hosts, domains, addresses and networks reached without a proxy, with commas between; `*` is everything."""


class Connection(Struct, frozen=True):
    """One API server and one way to be known to it."""

    server: str
    """`https://host:port`, perhaps with a path, without a slash at the end."""
    namespace: str = "default"
    """What commands mean where they name no namespace."""
    trust: Trust = field(default_factory=Trust)
    login: Login = field(default_factory=Login)
    proxy: str = ""
    """A proxy for this server alone; goes before all rules."""
    proxy_rules: ProxyRules = field(default_factory=ProxyRules)
    is_compressed: bool = True
    """Whether large answers may come compressed."""
