"""Quotas: what a write is charged, last of all, to the quotas of its namespace."""

from dray.api.core.kinds import RESOURCE_QUOTA
from dray.api.core.resourcequota import ResourceQuota
from dray.api.meta import ApiObject
from dray.api.quotas.charging import ChargedWrite, QuotaRefusal, charge_quotas
from dray.api.quotas.meter import Meter, Surroundings
from dray.api.quotas.meters import find_meter
from dray.server.admission.request import Act, AnyRequest, refuse
from dray.server.ports import View

__all__ = ["charge"]


def charge(request: AnyRequest, view: View) -> tuple[ResourceQuota, ...]:
    """The quotas with this write in use. Raises Forbidden if one is exceeded."""
    if request.new is None or not request.namespace:
        return ()
    meter = find_meter(request.kind)
    if meter is None or not _is_charged(request, meter):
        return ()
    quotas = view.list(RESOURCE_QUOTA, request.namespace)
    if not quotas:
        return ()
    try:
        return charge_quotas(ChargedWrite(meter, request.new, request.old), quotas, Surroundings(view, request.now))
    except QuotaRefusal as refusal:
        raise refuse(request, str(refusal)) from refusal


def _is_charged(request: AnyRequest, meter: Meter[ApiObject]) -> bool:
    if request.act is Act.CREATE:
        return not request.subresource
    if request.subresource:
        return request.subresource == meter.charged_subresource
    return request.act is Act.UPDATE and meter.charges_updates
