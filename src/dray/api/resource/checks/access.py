"""Who may do what to a claim, beyond the right to write it: administrative access, and parts of the status."""

from collections.abc import Iterator

from dray.api.checks import AccessQuestion, CheckContext
from dray.api.resource.allocation import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.checks.devicestatus import AllocatedDevice
from dray.api.resource.claim import DeviceClaim, ResourceClaim
from dray.api.resource.equality import is_same
from dray.errors import FieldError, forbidden, internal
from dray.values.fieldpath import SPEC, STATUS, FieldPath

__all__ = ["check_admin_request", "check_admin_results", "check_status_access"]

_ADMIN_LABEL = "resource.kubernetes.io/admin-access"
_NO_ADMIN = f"admin access to devices requires the `{_ADMIN_LABEL}: true` label on the containing namespace"
_GROUP = "resource.k8s.io"


def check_admin_request(claim: DeviceClaim, namespace: str, context: CheckContext) -> list[FieldError]:
    """Only labelled namespaces may ask for administrative access. The first request that does stands for all."""
    for index, request in enumerate(claim.requests or ()):
        if request.exactly is not None and request.exactly.admin_access:
            # This path, in claims and templates alike and without `exactly`, is upstream's.
            return _admin_faults(SPEC / "devices" / "requests" / index / "adminAccess", namespace, context)
    return []


def check_admin_results(new: ResourceClaim, old: ResourceClaim, context: CheckContext) -> list[FieldError]:
    """Only labelled namespaces may be given administrative access. Who has it already keeps it."""
    if any(each.admin_access for each in _results(old.status.allocation)):
        return []
    for index, result in enumerate(_results(new.status.allocation)):
        if result.admin_access:
            path = STATUS / "allocation" / "devices" / "results" / index / "adminAccess"
            return _admin_faults(path, new.metadata.namespace, context)
    return []


def _results(allocation: AllocationResult | None) -> tuple[DeviceRequestAllocationResult, ...]:
    return allocation.devices.results if allocation is not None else ()


def _admin_faults(path: FieldPath, namespace: str, context: CheckContext) -> list[FieldError]:
    labels = context.namespace_labels(namespace)
    if labels is None:
        detail = f'could not retrieve namespace to verify admin access: namespaces "{namespace}" not found'
        return [internal(path, detail)]
    if labels.get(_ADMIN_LABEL) == "true":
        return []
    hint = f"run `kubectl label namespace {namespace} {_ADMIN_LABEL}=true`, or remove adminAccess"
    return [forbidden(path, _NO_ADMIN, hint=hint)]


def check_status_access(new: ResourceClaim, old: ResourceClaim, context: CheckContext) -> list[FieldError]:
    """Who allocates needs the right to bind claims; who reports on devices needs the right to speak for their driver.

    Both are asked about subresources that do not exist: the names are permissions and nothing else.
    """
    faults: list[FieldError] = []
    before, after = old.status, new.status
    if after.reserved_for != before.reserved_for or not is_same(after.allocation, before.allocation):
        faults += _binding_faults(context)
    if after.allocation is not None:
        for driver in _touched_drivers(before, after):
            faults += _driver_faults(driver, new.metadata.namespace, after.allocation, context)
    return faults


def _binding_faults(context: CheckContext) -> Iterator[FieldError]:
    refusal = context.deny(AccessQuestion(context.verb, _GROUP, "resourceclaims", "binding"))
    if refusal is not None:
        detail = (
            "changing status.allocation or status.reservedFor requires "
            f'resource="resourceclaims/binding", verb="{context.verb}" permission: {refusal}'
        )
        hint = "bind a ClusterRole with that permission to the caller"
        yield forbidden(STATUS / "allocation", detail, hint=hint)


def _touched_drivers(before: ResourceClaimStatus, after: ResourceClaimStatus) -> list[str]:
    """Drivers of all entries that were added, removed or changed, sorted."""
    old, new = _by_device(before.devices), _by_device(after.devices)
    return sorted(
        {device.driver for device in old.keys() | new.keys() if not is_same(old.get(device), new.get(device))}
    )


def _by_device(statuses: tuple[AllocatedDeviceStatus, ...]) -> dict[AllocatedDevice, AllocatedDeviceStatus]:
    return {AllocatedDevice.of(each): each for each in statuses}


def _driver_faults(
    driver: str, namespace: str, allocation: AllocationResult, context: CheckContext
) -> Iterator[FieldError]:
    node = context.caller_node
    verbs = [f"arbitrary-node:{context.verb}"]
    if node is not None and node == _only_node(allocation):
        verbs.insert(0, f"associated-node:{context.verb}")
    first_refusal = None
    for verb in verbs:
        question = AccessQuestion(verb, _GROUP, "resourceclaims", "driver", namespace=namespace, name=driver)
        refusal = context.deny(question)
        if refusal is None:
            return
        first_refusal = first_refusal or refusal
    detail = (
        'changing status.devices requires resource="resourceclaims/driver", '
        f'verb="[{" ".join(verbs)}]" permission: {first_refusal}'
    )
    yield forbidden(STATUS / "devices", detail, hint=f"bind a role with that permission for {driver} to the caller")


def _only_node(allocation: AllocationResult) -> str | None:
    """The node that an allocation is tied to by name, if it is tied to exactly one and in no other way."""
    terms = allocation.node_selector.node_selector_terms if allocation.node_selector is not None else ()
    if len(terms) != 1 or terms[0].match_expressions or len(terms[0].match_fields) != 1:
        return None
    condition = terms[0].match_fields[0]
    if condition.key != "metadata.name" or condition.operator != "In" or len(condition.values) != 1:
        return None
    return condition.values[0]
