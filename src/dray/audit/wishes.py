"""What results refer to: an exact request, or one alternative of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dray.api.resource.allocation import DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.request import AllocationMode, DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dray.audit.tolerations import is_blocked
from dray.audit.world import Published, World

__all__ = [
    "Pick",
    "Wish",
    "failing_selector",
    "find_class",
    "find_wish",
    "is_tolerated",
    "list_wishes",
]


@dataclass(frozen=True, slots=True)
class Wish:
    """An exact request, or one alternative. `reference` is how results name it, `request` the name of the request."""

    request: str
    reference: str
    terms: ExactDeviceRequest | DeviceSubRequest

    @property
    def wants_all(self) -> bool:
        """Whether it wants every device that fits."""
        return self.terms.allocation_mode == AllocationMode.ALL

    @property
    def is_admin(self) -> bool:
        """Whether it is for administration, which takes devices from nobody."""
        return isinstance(self.terms, ExactDeviceRequest) and bool(self.terms.admin_access)

    def is_named_in(self, references: Sequence[str]) -> bool:
        """Whether a list names the request, or this alternative of it."""
        return self.request in references or self.reference in references


@dataclass(frozen=True, slots=True)
class Pick:
    """One result of a claim, with the wish it serves and the device as it is published."""

    claim: int
    subject: str
    wish: Wish
    result: DeviceRequestAllocationResult
    published: Published


def list_wishes(request: DeviceRequest) -> list[Wish]:
    """The alternatives of a request in order, or the one exact wish."""
    if request.first_available:
        return [Wish(request.name, f"{request.name}/{each.name}", each) for each in request.first_available]
    return [Wish(request.name, request.name, request.exactly or ExactDeviceRequest())]


def find_wish(claim: ResourceClaim, reference: str) -> Wish | None:
    """What a result refers to; of alternatives with one name the first."""
    wishes = (wish for request in claim.spec.devices.requests or () for wish in list_wishes(request))
    return next((wish for wish in wishes if wish.reference == reference), None)


def find_class(world: World, wish: Wish) -> DeviceClass | None:
    """The class a wish names."""
    return next((each for each in world.classes if each.metadata.name == wish.terms.device_class_name), None)


def failing_selector(world: World, wish: Wish, published: Published) -> str | None:
    """The first selector of the class or the request that is not true of a device, described; None if all are."""
    device_class = find_class(world, wish)
    of_class = device_class.spec.selectors if device_class is not None else ()
    for owner, selectors in (("class", of_class), ("request", wish.terms.selectors)):
        for index, selector in enumerate(selectors):
            expression = selector.cel.expression if selector.cel is not None else ""
            if not expression or not world.is_true(expression, published.key.driver, published.device):
                return f"selector #{index} of the {owner}: {expression}"
    return None


def is_tolerated(wish: Wish, published: Published) -> bool:
    """Whether no taint keeps the device from the wish."""
    return not any(is_blocked(taint, wish.terms.tolerations) for taint in published.device.taints)
