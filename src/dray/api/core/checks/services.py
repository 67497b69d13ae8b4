"""Services: ports that can be told apart, types that agree with the rest."""

import ipaddress
from collections.abc import Iterator, Sequence

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import (
    choice_faults,
    labels_faults,
    range_faults,
    required_choice_faults,
    required_label_faults,
    subdomain_faults,
)
from dray.api.core.checks.probes import port_reference_faults
from dray.api.core.service import Service
from dray.api.core.servicespec import ServicePort, ServiceSpec
from dray.errors import FieldError, duplicate, forbidden, invalid, required
from dray.values.fieldpath import SPEC, FieldPath

__all__ = ["check_service", "check_service_update"]

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_POLICIES = ("Cluster", "Local")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_IP_RULE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def check_service(new: Service, old: Service | None, context: CheckContext) -> list[FieldError]:
    """What holds of every service."""
    return list(_spec_faults(new.spec))


def _spec_faults(spec: ServiceSpec) -> Iterator[FieldError]:
    is_headless = spec.cluster_ip == "None"
    if not spec.ports and not is_headless and spec.type != "ExternalName":
        yield required(SPEC / "ports")
    yield from _type_faults(spec, is_headless=is_headless)
    yield from _port_faults(spec, SPEC / "ports")
    yield from labels_faults(spec.selector, SPEC / "selector")
    yield from required_choice_faults(spec.session_affinity, ("ClientIP", "None"), SPEC / "sessionAffinity")
    yield from _address_faults(spec)
    if spec.external_traffic_policy:
        yield from choice_faults(spec.external_traffic_policy, _POLICIES, SPEC / "externalTrafficPolicy")
    if spec.internal_traffic_policy is not None:
        yield from choice_faults(spec.internal_traffic_policy, _POLICIES, SPEC / "internalTrafficPolicy")
    if spec.ip_family_policy is not None:
        yield from choice_faults(spec.ip_family_policy, _FAMILY_POLICIES, SPEC / "ipFamilyPolicy")


def _type_faults(spec: ServiceSpec, *, is_headless: bool) -> Iterator[FieldError]:
    if spec.type == "ExternalName":
        if spec.cluster_ip:
            yield forbidden(SPEC / "clusterIPs", "may not be set for ExternalName services")
        if spec.external_name:
            yield from subdomain_faults(spec.external_name.removesuffix("."), SPEC / "externalName")
        else:
            yield required(SPEC / "externalName")
    elif is_headless and spec.type in ("NodePort", "LoadBalancer"):
        detail = f"may not be set to 'None' for {spec.type} services"
        yield invalid(SPEC / "clusterIPs" / 0, spec.cluster_ip, detail)
    yield from required_choice_faults(spec.type, _TYPES, SPEC / "type")


def _port_faults(spec: ServiceSpec, path: FieldPath) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, port in enumerate(spec.ports):
        at = path / index
        if port.name or len(spec.ports) > 1:
            yield from required_label_faults(port.name, at / "name")
        if port.name and port.name in names:
            yield duplicate(at / "name", port.name)
        names.add(port.name)
        yield from range_faults(port.port, 1, 65535, at / "port")
        yield from required_choice_faults(port.protocol, _PROTOCOLS, at / "protocol")
        yield from port_reference_faults(port.target_port or 0, at / "targetPort")
        if port.node_port and spec.type in ("ClusterIP", "ExternalName"):
            yield forbidden(at / "nodePort", f"may not be used when `type` is '{spec.type}'")
    yield from _repeated_port_faults(spec.ports, path)


def _repeated_port_faults(ports: Sequence[ServicePort], path: FieldPath) -> Iterator[FieldError]:
    seen: set[tuple[int, str]] = set()
    for index, port in enumerate(ports):
        if (port.port, port.protocol) in seen:
            yield duplicate(path / index, {"Protocol": port.protocol, "Port": port.port})
        seen.add((port.port, port.protocol))


def _address_faults(spec: ServiceSpec) -> Iterator[FieldError]:
    addresses = [(SPEC / "externalIPs" / index, text) for index, text in enumerate(spec.external_ips)]
    own = spec.cluster_ips or ((spec.cluster_ip,) if spec.cluster_ip else ())
    addresses += [(SPEC / "clusterIPs" / index, text) for index, text in enumerate(own) if text != "None"]
    for path, text in addresses:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            yield invalid(path, text, _IP_RULE)


def check_service_update(new: Service, old: Service | None, context: CheckContext) -> list[FieldError]:
    """A service that had an address keeps it."""
    if old is None or "ExternalName" in (new.spec.type, old.spec.type):
        return []
    before, after = old.spec.cluster_ip, new.spec.cluster_ip
    if not before or before == after:
        return []
    return [invalid(SPEC / "clusterIPs" / 0, after, "may not change once set")]
