"""Which devices each container of a pod gets, from the claims it names and the extended resources it asks for."""

from collections.abc import Iterable

from msgspec import Struct

from dray.api.core.containers import Container
from dray.api.core.pod import Pod
from dray.driver.claims import ClaimRef
from dray.errors import DrayError
from dray.node.core.prepared_claims import ClaimRecord, PreparedClaims, ReadyDevice
from dray.values.quantity import ZERO

__all__ = ["ClaimMissing", "GrantedDevice", "find_cdi_ids", "find_granted_devices", "find_used_claims"]


class ClaimMissing(DrayError):
    """A container needs a claim of which the agent knows nothing: it cannot be made."""


class GrantedDevice(Struct, frozen=True):
    """One device that a container gets."""

    claim: ClaimRef
    driver: str
    device: ReadyDevice


def find_granted_devices(pod: Pod, container: Container, claims: PreparedClaims) -> list[GrantedDevice]:
    """The devices of a container, each once, in the order in which the pod lists its claims.

    A container that names no claim gets nothing, also if the pod has claims. Raises ClaimMissing.
    """
    granted: dict[GrantedDevice, None] = {}
    for claim_name, requests in _find_wishes(pod, container):
        record = _require(pod, claim_name, claims)
        for driver, device in record.devices:
            if any(device.is_for(request) for request in requests):
                granted[GrantedDevice(record.ref, driver, device)] = None
    return list(granted)


def find_cdi_ids(granted: Iterable[GrantedDevice]) -> tuple[str, ...]:
    """What a runtime is asked to add to the container, each name once."""
    return tuple(dict.fromkeys(each for one in granted for each in one.device.cdi_ids))


def find_used_claims(pod: Pod, container: Container) -> list[str]:
    """The names of the claims from which a container gets devices."""
    return [claim for claim, _ in _find_wishes(pod, container)]


def _find_wishes(pod: Pod, container: Container) -> list[tuple[str, list[str]]]:
    """Names of claims and, for each, the requests of which the container wants devices; empty stands for all."""
    wanted: dict[str, list[str]] = {}
    for entry in container.resources.claims:
        wanted.setdefault(entry.name, []).append(entry.request)
    generated = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    wishes: dict[str, list[str]] = {}
    for claim in pod.spec.resource_claims:
        name = claim.resource_claim_name or generated.get(claim.name)
        if claim.name in wanted and name is not None:
            wishes.setdefault(name, []).extend(wanted[claim.name])
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        asked = container.resources.requests
        requests = [
            each.request_name
            for each in extended.request_mappings
            if each.container_name == container.name and asked.get(each.resource_name, ZERO).sign > 0
        ]
        if requests:
            wishes.setdefault(extended.resource_claim_name, []).extend(requests)
    return list(wishes.items())


def _require(pod: Pod, name: str, claims: PreparedClaims) -> ClaimRecord:
    namespace = pod.metadata.namespace
    record = claims.find(namespace, name)
    if record is None or pod.metadata.uid not in record.pod_uids:
        raise ClaimMissing(
            f"internal error: unable to get claim info for ResourceClaim {name} in namespace {namespace}"
        )
    return record
