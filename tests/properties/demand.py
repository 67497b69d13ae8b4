"""What is wanted in a small world: claims with requests of all kinds, and constraints over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dray.api.meta import ObjectMeta
from dray.api.resource.claim import (
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceConstraint,
    ResourceClaim,
    ResourceClaimSpec,
)
from dray.api.resource.request import (
    CapacityRequirements,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
)
from dray.values.quantity import parse_quantity
from tests.properties.artist import GPU, MODEL, NUMA, ROOT, Artist, Feature, opaque, select

__all__ = ["Demand"]

SELECTORS = (
    f'device.attributes["{GPU}"].?numa.orValue(0) == 0',
    f'device.attributes["{GPU}"].?model.orValue("a") == "a"',
    f'device.driver == "{GPU}"',
    'device.attributes["common.x"].?root.orValue("r0") != "r1"',
    "!device.allowMultipleAllocations",
)
FAILING_SELECTORS = (
    f'device.attributes["{GPU}"].numa == 0',
    f'device.attributes["{GPU}"].model == "a"',
    'device.attributes["common.x"].root == "r0"',
)
DERIVED = (
    'device.attributes["common.x"].?root.orValue("r1")',
    f'device.driver == "{GPU}"',
    f'device.attributes["{GPU}"].?numa.orValue(1) == 0 ? 1 : 2',
)
FAILING_DERIVED = ('device.attributes["common.x"].root', f'device.attributes["{GPU}"].?numa.orValue(1) + 1')


@dataclass(frozen=True)
class Demand(Artist):
    """Draws claims to allocate."""

    def terms(self) -> dict[str, object]:
        """What exact requests and alternatives have in common."""
        selectors = (self.one_of(*SELECTORS),) if self.seldom() else ()
        if self.has(Feature.FAILING) and self.one_of(False, True):
            selectors = (*selectors, self.one_of(*FAILING_SELECTORS))
        wants_all = self.has(Feature.ALL) and self.one_of(False, True)
        return {
            "device_class_name": self.one_of("any", "any", "gpu", "gpu", "nic"),
            "selectors": select(*selectors),
            "allocation_mode": "All" if wants_all else "ExactCount",
            "count": 0 if wants_all else self.one_of(1, 1, 1, 1, 2, 3),
            "tolerations": self.tolerations(),
            "capacity": self.wanted_capacity(),
            "derived_attributes": self.derived(),
        }

    def tolerations(self) -> tuple[DeviceToleration, ...]:
        if not self.has(Feature.TAINTS) or self.one_of(False, True):
            return ()
        effect = self.one_of("", "NoSchedule", "NoExecute")
        if self.one_of(False, True):
            return (DeviceToleration(key=self.one_of("", "hot", "old"), operator="Exists", effect=effect),)
        return (DeviceToleration(key="hot", operator=self.one_of("", "Equal"), value="yes", effect=effect),)

    def wanted_capacity(self) -> CapacityRequirements | None:
        if not self.has(Feature.SHARED) or self.one_of(False, True):
            return None
        amounts = ("1", "2", "3", "1500m", "5") if not self.has(Feature.FAILING) else ("1", "9E", "-1", "100u")
        return CapacityRequirements(requests={"memory": parse_quantity(self.one_of(*amounts))})

    def derived(self) -> tuple[DeviceDerivedAttribute, ...]:
        if not self.has(Feature.DERIVED) or self.seldom():
            return ()
        expressions = (*DERIVED, *FAILING_DERIVED) if self.has(Feature.FAILING) else DERIVED
        return (DeviceDerivedAttribute(name=self.one_of(ROOT, NUMA), expression=self.one_of(*expressions)),)

    def request(self, name: str) -> DeviceRequest:
        if self.has(Feature.ALTERNATIVES) and self.one_of(False, True):
            names = ("a", "b", "c")[: self.number(1, 3)]
            return DeviceRequest(
                name=name,
                first_available=tuple(DeviceSubRequest(name=each, **self.terms()) for each in names),  # type: ignore[arg-type]
            )
        admin = True if self.has(Feature.ADMIN) and self.one_of(False, True) else None
        return DeviceRequest(name=name, exactly=ExactDeviceRequest(admin_access=admin, **self.terms()))  # type: ignore[arg-type]

    def constraint(self, references: Sequence[str]) -> DeviceConstraint:
        name = self.one_of(ROOT, NUMA, MODEL)
        is_match = self.number(0, 2) > 0
        return DeviceConstraint(
            requests=self.some(references, 2),
            match_attribute=name if is_match else None,
            distinct_attribute=None if is_match else name,
        )

    def claim(self, index: int, most_requests: int) -> ResourceClaim:
        names = [f"r{number}" for number in range(self.number(1, most_requests))]
        requests = tuple(self.request(name) for name in names)
        references = [*names, *(f"{each.name}/{sub.name}" for each in requests for sub in each.first_available)]
        has_constraints = self.has(Feature.CONSTRAINTS, Feature.DERIVED)
        config = self.some(references, 2) if self.seldom() else None
        devices = DeviceClaim(
            requests=requests,
            constraints=tuple(self.constraint(references) for _ in range(self.number(1, 2))) if has_constraints else (),
            config=() if config is None else (DeviceClaimConfiguration(requests=config, opaque=opaque("claim")),),
        )
        return ResourceClaim(
            metadata=ObjectMeta(name=f"c{index}", namespace="ns", uid=f"c{index}"),
            spec=ResourceClaimSpec(devices=devices),
        )

    def claims(self) -> tuple[ResourceClaim, ...]:
        sizes = self.one_of((1,), (2,), (3,), (1, 1), (2, 1))
        return tuple(self.claim(index, most) for index, most in enumerate(sizes))
