"""`DeviceTaintRule`: a taint that an administrator puts on devices, without their driver."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject, Condition
from dray.api.resource.device import DeviceTaint
from dray.api.struct import REQUIRED, ApiStruct, always, list_map

__all__ = ["DeviceTaintRule", "DeviceTaintRuleSpec", "DeviceTaintRuleStatus", "DeviceTaintSelector"]


class DeviceTaintSelector(ApiStruct):
    """The devices a rule is about. What is set must match; nothing set matches every device."""

    driver: Annotated[str | None, Meta(description="Only devices of this driver.")] = None
    pool: Annotated[
        str | None, Meta(description="Only devices of this pool; names of pools are unique for one driver only.")
    ] = None
    device: Annotated[
        str | None, Meta(description="Only devices of this name; names of devices are unique within one pool only.")
    ] = None


class DeviceTaintRuleSpec(ApiStruct):
    """One taint, and the devices that get it."""

    device_selector: Annotated[
        DeviceTaintSelector | None,
        Meta(description="The devices. Absent selects none, an empty object selects all."),
    ] = None
    taint: Annotated[DeviceTaint, Meta(description="The taint that the devices get.", extra=REQUIRED)] = always(
        DeviceTaint
    )


class DeviceTaintRuleStatus(ApiStruct):
    """How far a rule has been carried out."""

    conditions: Annotated[
        tuple[Condition, ...],
        Meta(
            description="EvictionInProgress is True while pods are still to be evicted; its message counts them. "
            "For effect None it foretells what NoExecute would do. At most 8.",
            extra=list_map("type"),
        ),
    ] = ()


class DeviceTaintRule(ApiObject):
    """Puts one taint on all devices that match, as if their driver had published it."""

    spec: Annotated[DeviceTaintRuleSpec, Meta(description="The taint and the devices.", extra=REQUIRED)] = always(
        DeviceTaintRuleSpec
    )
    status: Annotated[DeviceTaintRuleStatus, Meta(description="How far the rule has been carried out.")] = always(
        DeviceTaintRuleStatus
    )
