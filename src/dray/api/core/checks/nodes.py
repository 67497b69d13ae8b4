"""Nodes: taints that mean something, addresses and amounts that can be, and what a node may not change."""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import key_faults, required_choice_faults
from dray.api.core.checks.resources import amount_faults
from dray.api.core.checks.scheduling import TAINT_EFFECTS
from dray.api.core.node import Node
from dray.api.core.nodespec import NodeSpec
from dray.api.core.nodestatus import NodeAddress
from dray.api.core.taints import Taint
from dray.errors import FieldError, FieldReason, duplicate, forbidden, invalid, render_value
from dray.values.fieldpath import METADATA, SPEC, STATUS, FieldPath, key
from dray.values.names import label_value_faults
from dray.values.quantity import Quantity

__all__ = ["check_node", "check_node_update"]

_CIDR_RULE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def check_node(new: Node, old: Node | None, context: CheckContext) -> list[FieldError]:
    """What holds of every node."""
    return [*_taint_faults(new.spec.taints, METADATA / "taints"), *_range_faults(new.spec), *_status_faults(new)]


def _taint_faults(taints: Sequence[Taint], path: FieldPath) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        at = path / index
        yield from key_faults(taint.key, at / "key")
        details = label_value_faults(taint.value)
        if details:
            yield invalid(at / "value", taint.value, ";".join(details))
        yield from required_choice_faults(taint.effect, TAINT_EFFECTS, at / "effect")
        if (taint.key, taint.effect) in seen:
            detail = "taints must be unique by key and effect pair"
            yield FieldError(FieldReason.DUPLICATE, at, detail, _show_taint(taint))
        seen.add((taint.key, taint.effect))


def _show_taint(taint: Taint) -> str:
    """As the API server shows it: with the names of its own types."""
    added = str(taint.time_added) if taint.time_added is not None else None
    return render_value({"Key": taint.key, "Value": taint.value, "Effect": taint.effect, "TimeAdded": added})


def _range_faults(spec: NodeSpec) -> Iterator[FieldError]:
    at = SPEC / "podCIDRs"
    versions: list[int] = []
    for index, text in enumerate(spec.pod_cidrs):
        try:
            versions.append(ipaddress.ip_network(text, strict=False).version)
        except ValueError:
            yield invalid(at / index, text, _CIDR_RULE)
    if len(versions) != len(set(versions)):
        yield invalid(at, list(spec.pod_cidrs), "may specify no more than one CIDR for each IP family")


def _status_faults(node: Node) -> Iterator[FieldError]:
    for name, amounts in (("capacity", node.status.capacity), ("allocatable", node.status.allocatable)):
        yield from _amounts_faults(amounts, STATUS / name)
    yield from _address_faults(node.status.addresses, STATUS / "addresses")


def _amounts_faults(amounts: Mapping[str, Quantity], path: FieldPath) -> Iterator[FieldError]:
    for name, amount in amounts.items():
        yield from amount_faults(name, amount, path / key(name))


def _address_faults(addresses: Sequence[NodeAddress], path: FieldPath) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for index, address in enumerate(addresses):
        if (address.type, address.address) in seen:
            yield duplicate(path / index, {"Type": address.type, "Address": address.address})
        seen.add((address.type, address.address))


def check_node_update(new: Node, old: Node | None, context: CheckContext) -> list[FieldError]:
    """Ranges and identity are given once."""
    if old is None:
        return []
    faults: list[FieldError] = []
    if old.spec.pod_cidrs and new.spec.pod_cidrs != old.spec.pod_cidrs:
        detail = 'node updates may not change podCIDR except from "" to valid'
        faults.append(forbidden(SPEC / "podCIDRs", detail))
    if old.spec.provider_id and new.spec.provider_id != old.spec.provider_id:
        detail = 'node updates may not change providerID except from "" to valid'
        faults.append(forbidden(SPEC / "providerID", detail))
    return faults
