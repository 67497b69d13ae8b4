"""Addresses and networks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network
from typing import ClassVar

from dray.cel.errors import EvaluationError, no_such_overload
from dray.cel.functions import Overload, declare
from dray.cel.library.badaddresses import explain_bad_address
from dray.cel.values import LibraryObject
from dray.values.quoting import quote

__all__ = ["ADDRESSES", "NETWORKS", "Address", "Network"]


@dataclass(frozen=True, slots=True)
class Address(LibraryObject):
    """An IP address."""

    cel_type: ClassVar[str] = "net.IP"
    address: IPv4Address | IPv6Address

    def __str__(self) -> str:
        return _canonical(self.address)

    def __len__(self) -> int:
        return self.address.max_prefixlen // 8


@dataclass(frozen=True, slots=True)
class Network(LibraryObject):
    """An address with the length of its network prefix; the address may have bits beyond it."""

    cel_type: ClassVar[str] = "net.CIDR"
    address: IPv4Address | IPv6Address
    prefix: int

    def __str__(self) -> str:
        return f"{_canonical(self.address)}/{self.prefix}"

    def __len__(self) -> int:
        return -(-self.prefix // 8)

    def masked(self) -> Network:
        """The network without the bits beyond its prefix."""
        return Network(ip_network((self.address, self.prefix), strict=False).network_address, self.prefix)

    def holds(self, address: IPv4Address | IPv6Address) -> bool:
        """Whether the address lies in the network."""
        return address.version == self.address.version and address in ip_network(
            (self.address, self.prefix), strict=False
        )


class _BadAddress(ValueError):
    """The text is no address."""


def _canonical(address: IPv4Address | IPv6Address) -> str:
    return str(address)


def _parse_address(text: str) -> IPv4Address | IPv6Address:
    try:
        address = ip_address(text)
    except ValueError:
        raise _BadAddress(f"ParseAddr({quote(text)}): {explain_bad_address(text)}") from None
    return address


def _checked_address(text: str) -> Address:
    try:
        address = _parse_address(text)
    except _BadAddress as fault:
        message = f"IP Address {quote(text)} parse error during conversion from string: {fault}"
        raise EvaluationError(message) from None
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            raise EvaluationError(f"IP address {quote(text)} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise EvaluationError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Address(address)


def _is_address(text: str) -> bool:
    try:
        _checked_address(text)
    except EvaluationError:
        return False
    return True


_PREFIX = re.compile(r"0|[1-9][0-9]{0,2}")


def _checked_network(text: str) -> Network:
    where = "network address parse error during conversion from string: "
    fault = f"{where}{where}netip.ParsePrefix({quote(text)}): "
    address_text, slash, prefix_text = text.rpartition("/")
    if not slash:
        raise EvaluationError(f"{fault}no '/'")
    try:
        address = _parse_address(address_text)
    except _BadAddress as reason:
        raise EvaluationError(f"{fault}{reason}") from None
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        raise EvaluationError(f"{fault}IPv6 zones cannot be present in a prefix")
    if not _PREFIX.fullmatch(prefix_text):
        raise EvaluationError(f"{fault}bad bits after slash: {quote(prefix_text)}")
    if int(prefix_text) > address.max_prefixlen:
        raise EvaluationError(f"{fault}prefix length out of range")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"{where}IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return Network(address, int(prefix_text))


def _is_network(text: str) -> bool:
    try:
        _checked_network(text)
    except EvaluationError:
        return False
    return True


def _is_link_local_multicast(value: Address) -> bool:
    address = value.address
    if isinstance(address, IPv4Address):
        return address in _IPV4_LINK_LOCAL_MULTICAST
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


_IPV4_LINK_LOCAL_MULTICAST = IPv4Network("224.0.0.0/24")


def _is_global_unicast(value: Address) -> bool:
    """Go's reading: not unspecified, loopback, multicast, link-local, nor the IPv4 broadcast address."""
    address = value.address
    if address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local:
        return False
    return address != IPv4Address("255.255.255.255")


def _contains_address(network: Network, other: Address | str) -> bool:
    if isinstance(other, str):
        try:
            other = _checked_address(other)
        except EvaluationError as error:
            raise no_such_overload() from error  # the one place where Kubernetes forgets what is wrong with an address
    return network.holds(other.address)


def _contains_network(network: Network, other: Network | str) -> bool:
    inner = _checked_network(other) if isinstance(other, str) else other
    if inner.address.version != network.address.version or network.prefix > inner.prefix:
        return False
    return network.holds(inner.masked().address)


ADDRESSES: list[Overload] = declare(
    ("string_to_ip: ip(string) -> IP", _checked_address),
    ("ip_family: IP::family() -> int", lambda value: value.address.version),
    ("ip_is_canonical: ip.isCanonical(string) -> bool", lambda text: str(_checked_address(text)) == text),
    ("ip_is_unspecified: IP::isUnspecified() -> bool", lambda value: value.address.is_unspecified),
    ("ip_is_loopback: IP::isLoopback() -> bool", lambda value: value.address.is_loopback),
    ("ip_is_link_local_multicast: IP::isLinkLocalMulticast() -> bool", _is_link_local_multicast),
    ("ip_is_link_local_unicast: IP::isLinkLocalUnicast() -> bool", lambda value: value.address.is_link_local),
    ("ip_is_global_unicast: IP::isGlobalUnicast() -> bool", _is_global_unicast),
    ("is_ip: isIP(string) -> bool", _is_address),
    ("ip_to_string: string(IP) -> string", str),
)

NETWORKS: list[Overload] = declare(
    ("string_to_cidr: cidr(string) -> CIDR", _checked_network),
    ("cidr_contains_ip_string: CIDR::containsIP(string) -> bool", _contains_address),
    ("cidr_contains_ip_ip: CIDR::containsIP(IP) -> bool", _contains_address),
    ("cidr_contains_cidr_string: CIDR::containsCIDR(string) -> bool", _contains_network),
    ("cidr_contains_cidr: CIDR::containsCIDR(CIDR) -> bool", _contains_network),
    ("cidr_ip: CIDR::ip() -> IP", lambda network: Address(network.address)),
    ("cidr_prefix_length: CIDR::prefixLength() -> int", lambda network: network.prefix),
    ("cidr_masked: CIDR::masked() -> CIDR", Network.masked),
    ("is_cidr: isCIDR(string) -> bool", _is_network),
    ("cidr_to_string: string(CIDR) -> string", str),
)
