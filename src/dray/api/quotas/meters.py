"""The meters of all kinds: most objects are counted, a few are measured as well."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from dray.api.core.kinds import SERVICE
from dray.api.core.service import Service
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.quotas.claims import CLAIM_METER
from dray.api.quotas.meter import ONE, Amounts, Meter, Surroundings
from dray.api.quotas.pods import POD_METER
from dray.api.registry import SERVED
from dray.values.quantity import Quantity

__all__ = ["METERS", "find_meter"]

K = TypeVar("K", bound=ApiObject)

_SHORT_NAMES: Final = frozenset({"configmaps", "resourcequotas", "secrets"})
"""Kinds that can also be limited by their bare plural."""
_NEVER_CHARGED: Final = frozenset({"events"})


def _count_meter(kind: Kind[K]) -> Meter[K]:
    suffix = f".{kind.group}" if kind.group else ""
    names = {f"count/{kind.plural}{suffix}"}
    if not kind.group and kind.plural in _SHORT_NAMES:
        names.add(kind.plural)
    charged = dict.fromkeys(names, ONE)
    return Meter(kind=kind, covers=charged.__contains__, measure=lambda thing, surroundings: charged)


def _measure_service(service: Service, surroundings: Surroundings) -> Amounts:
    """The service, the ports it opens on every node, and the load balancer it needs."""
    spec = service.spec
    charged = {"count/services": ONE, "services": ONE}
    if spec.type == "NodePort":
        charged["services.nodeports"] = Quantity.of(len(spec.ports))
    elif spec.type == "LoadBalancer":
        charged["services.loadbalancers"] = ONE
        opens_ports = spec.allocate_load_balancer_node_ports is not False
        ports = sum(1 for port in spec.ports if opens_ports or port.node_port)
        charged["services.nodeports"] = Quantity.of(ports)
    return charged


_SERVICE_NAMES: Final = frozenset({"count/services", "services", "services.nodeports", "services.loadbalancers"})
SERVICE_METER: Final[Meter[Service]] = Meter(
    kind=SERVICE, covers=_SERVICE_NAMES.__contains__, measure=_measure_service, charges_updates=True
)
"""How services are charged."""


def _collect_meters() -> Mapping[Kind[Any], Meter[Any]]:
    special: dict[Kind[Any], Meter[Any]] = {meter.kind: meter for meter in (POD_METER, CLAIM_METER, SERVICE_METER)}
    return {
        kind: special.get(kind) or _count_meter(kind)
        for kind in SERVED
        if kind.is_namespaced and "list" in kind.verbs and kind.plural not in _NEVER_CHARGED
    }


METERS: Final = _collect_meters()
"""Every kind whose objects are charged."""


def find_meter(kind: Kind[K]) -> Meter[K] | None:
    """How objects of this kind are charged, if they are."""
    return METERS.get(kind)
