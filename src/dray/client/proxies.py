"""Which proxy a request goes through, decided as Go programs decide it."""

import ipaddress
from urllib.parse import urlsplit

from dray.client.connection import Connection, ProxyRules
from dray.errors import DrayError

__all__ = ["ProxyError", "choose_proxy"]


class ProxyError(DrayError):
    """A proxy of a kind that is not spoken here."""


def choose_proxy(connection: Connection) -> str | None:
    """The proxy's URL, or None to go straight. Raises ProxyError for SOCKS proxies.

    A proxy of the cluster is always taken; those of the environment are not for this machine, nor for exempted hosts.
    """
    proxy = connection.proxy or _by_rules(connection.server, connection.proxy_rules)
    if not proxy:
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    scheme = urlsplit(proxy).scheme
    if scheme not in ("http", "https"):
        raise ProxyError(f"proxy {proxy}: {scheme} proxies are not supported; use an http:// or https:// proxy")
    return proxy


def _by_rules(server: str, rules: ProxyRules) -> str:
    parts = urlsplit(server)
    proxy = rules.https if parts.scheme == "https" else rules.http
    host = (parts.hostname or "").rstrip(".")
    if not proxy or host == "localhost" or host.endswith(".localhost"):
        return ""
    address = _parse_address(host)
    if address is not None and address.is_loopback:
        return ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    exempted = any(
        _covers(entry.strip().lower(), host, address, port) for entry in rules.exempt.split(",") if entry.strip()
    )
    return "" if exempted else proxy


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _parse_address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _covers(entry: str, host: str, address: _Address | None, port: int) -> bool:
    """Whether one entry of NO_PROXY means this host: `*`, a network, an address, a domain; perhaps with a port."""
    if entry == "*":
        return True
    if "/" in entry:
        try:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name, wanted_port = _split_port(entry)
    if wanted_port and wanted_port != str(port):
        return False
    if address is not None:
        return _parse_address(name) == address
    if name.startswith("*."):
        name = name[1:]
    # ".example.com" means what is below it, "example.com" the name itself as well.
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _split_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        name, _, port = entry[1:].partition("]")
        return name, port.removeprefix(":")
    if entry.count(":") == 1:
        name, _, port = entry.partition(":")
        return name, port
    return entry, ""
