"""Which claims a pod needs on its node, and whether it may use them: the first pass of preparing, without effects.

Claims are looked up by name, as the pod's spec and status say, and judged as the API server has them now. What is wrong
is a `PreparationFailed` in Kubernetes' words; nothing is remembered of a pod that fails here, so it can be deleted
without any driver.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from dray.api.core.pod import Pod
from dray.api.meta import OwnerReference
from dray.api.resource.allocation import DeviceRequestAllocationResult, SkippableNodeOperation
from dray.api.resource.claim import ResourceClaim
from dray.driver.claims import ClaimRef
from dray.errors import DrayError

__all__ = [
    "AllocatedName",
    "ClaimPlan",
    "ClaimUse",
    "PreparationFailed",
    "calls_driver",
    "find_claim_uses",
    "find_skipped",
    "plan_claim",
]

_WORKLOADS: Final = "scheduling.k8s.io"
_ALL: Final = SkippableNodeOperation.ALL.value


class PreparationFailed(DrayError):
    """The devices of a pod are not ready, for the reason in the message. The pod stays Pending and tries again."""


class ClaimUse(Struct, frozen=True):
    """One claim that a pod needs. `pod_claim_name` is empty for the claim that stands for extended resources."""

    pod_claim_name: str
    claim_name: str
    must_be_owned: bool
    """Whether it was made from a template, so that no other pod's may be used."""


class AllocatedName(Struct, frozen=True):
    """A device, or a share of one, that a claim has."""

    driver: str
    pool: str
    device: str
    share_id: str | None = None


class ClaimPlan(Struct, frozen=True):
    """A claim that the pod may use, and what its drivers have to do for it."""

    ref: ClaimRef
    skipped_by_driver: Mapping[str, tuple[str, ...]]
    """Every driver with devices in the claim, and the calls that are left out for it."""
    devices: frozenset[AllocatedName] = frozenset()
    """What the claim has."""

    def calls(self, driver: str, operation: SkippableNodeOperation) -> bool:
        """Whether the driver is called."""
        return calls_driver(self.skipped_by_driver[driver], operation)


def calls_driver(skipped: Iterable[str], operation: SkippableNodeOperation) -> bool:
    """Whether a list of calls to leave out leaves this one in. Unknown entries mean nothing."""
    return not any(each in (_ALL, operation.value) for each in skipped)


def find_claim_uses(pod: Pod) -> list[ClaimUse]:
    """Every claim of the pod, also those that no container names; entries for which no claim was wanted are left out.

    Raises PreparationFailed where a claim was not generated yet.
    """
    uses: list[ClaimUse] = []
    names = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
    for entry in pod.spec.resource_claims:
        if entry.resource_claim_name is not None:
            uses.append(ClaimUse(entry.name, entry.resource_claim_name, must_be_owned=False))
        elif entry.resource_claim_template_name is None:
            where = f'pod "{pod.metadata.namespace}/{pod.metadata.name}", spec.resourceClaim "{entry.name}"'
            raise PreparationFailed(f"{where}: none of the supported fields are set")
        elif entry.name not in names:
            where = f'pod "{pod.metadata.namespace}/{pod.metadata.name}"'
            raise PreparationFailed(f"{where}: ResourceClaim not created yet")
        elif (name := names[entry.name]) is not None:
            uses.append(ClaimUse(entry.name, name, must_be_owned=True))
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        uses.append(ClaimUse("", extended.resource_claim_name, must_be_owned=False))
    return uses


def plan_claim(pod: Pod, use: ClaimUse, claim: ResourceClaim) -> ClaimPlan:
    """What to do for a claim as it is now. Raises PreparationFailed if the pod may not use it, or cannot yet."""
    if use.must_be_owned:
        _require_owner(pod, claim)
    if not _is_reserved_for(pod, claim):
        one, other = pod.metadata, claim.metadata
        raise PreparationFailed(
            f"pod {one.name} ({one.uid}) is not allowed to use ResourceClaim {other.name} ({other.uid})"
        )
    allocation = claim.status.allocation
    if allocation is None:
        raise PreparationFailed(f"ResourceClaim {claim.metadata.name}: not allocated")
    results: dict[str, list[DeviceRequestAllocationResult]] = {}
    for result in allocation.devices.results:
        results.setdefault(result.driver, []).append(result)
    meta = claim.metadata
    return ClaimPlan(
        ClaimRef(namespace=meta.namespace, name=meta.name, uid=meta.uid),
        {driver: find_skipped(results[driver]) for driver in sorted(results)},
        frozenset(
            AllocatedName(each.driver, each.pool, each.device, each.share_id) for each in allocation.devices.results
        ),
    )


def find_skipped(results: Iterable[DeviceRequestAllocationResult]) -> tuple[str, ...]:
    """The calls that all devices of a driver agree to leave out."""
    asked = [{_ALL} if _ALL in each.skip_node_operations else set(each.skip_node_operations) for each in results]
    if all(_ALL in each for each in asked):
        return (_ALL,)
    named = sorted({operation for each in asked for operation in each} - {_ALL})
    return tuple(name for name in named if all(name in each or _ALL in each for each in asked))


def _group_name(pod: Pod) -> str | None:
    group = pod.spec.scheduling_group
    return group.pod_group_name if group is not None else None


def _require_owner(pod: Pod, claim: ResourceClaim) -> None:
    group = _group_name(pod)
    owner = next((each for each in claim.metadata.owner_references if each.controller), None)
    if owner is not None and (owner.uid == pod.metadata.uid or _is_group(owner, group)):
        return
    one, other = claim.metadata, pod.metadata
    what = f"ResourceClaim {one.namespace}/{one.name} was not created for Pod {other.namespace}/{other.name}"
    why = "Pod is not owner" if group is None else f"neither Pod nor PodGroup {group} is the owner"
    raise PreparationFailed(f"{what} ({why})")


def _is_group(owner: OwnerReference, group: str | None) -> bool:
    is_of_group = owner.api_version.partition("/")[0] == _WORKLOADS
    return is_of_group and owner.kind == "PodGroup" and group is not None and owner.name == group


def _is_reserved_for(pod: Pod, claim: ResourceClaim) -> bool:
    group = _group_name(pod)
    return any(
        each.uid == pod.metadata.uid
        or (each.api_group == _WORKLOADS and each.resource == "podgroups" and group is not None and each.name == group)
        for each in claim.status.reserved_for
    )
