"""`PodDisruptionBudget`: how many pods of a kind may be evicted at a time."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject, Condition, LabelSelector
from dray.api.struct import ApiStruct, Int32, Int64, IntOrString, always, list_map
from dray.values.times import Time

__all__ = ["PodDisruptionBudget", "PodDisruptionBudgetSpec", "PodDisruptionBudgetStatus"]


class PodDisruptionBudgetSpec(ApiStruct):
    """The pods and the number. At most one of `min_available` and `max_unavailable` is set."""

    min_available: Annotated[
        IntOrString | None, Meta(description="How many pods must stay healthy, as a number or a percentage.")
    ] = None
    selector: Annotated[
        LabelSelector | None,
        Meta(description="The pods; empty selects all, absent none.", extra={"patch": "replace"}),
    ] = None
    max_unavailable: Annotated[
        IntOrString | None, Meta(description="How many pods may be unhealthy, as a number or a percentage.")
    ] = None
    unhealthy_pod_eviction_policy: Annotated[
        str | None,
        Meta(
            description="Whether pods that are not healthy may go in any case; absent is IfHealthyBudget.",
            extra={"enum": ("AlwaysAllow", "IfHealthyBudget")},
        ),
    ] = None


class PodDisruptionBudgetStatus(ApiStruct):
    """How much of the budget is left."""

    observed_generation: Annotated[Int64, Meta(description="Generation the status was made from.")] = 0
    disrupted_pods: Annotated[
        Mapping[str, Time], Meta(description="Pods whose eviction was allowed and is not seen yet, with its time.")
    ] = {}
    disruptions_allowed: Annotated[Int32, Meta(description="How many pods may be evicted now.")] = always(int)
    current_healthy: Annotated[Int32, Meta(description="Pods that are healthy.")] = always(int)
    desired_healthy: Annotated[Int32, Meta(description="Pods that must stay healthy.")] = always(int)
    expected_pods: Annotated[Int32, Meta(description="Pods there should be.")] = always(int)
    conditions: Annotated[tuple[Condition, ...], Meta(description="Aspects of its state.", extra=list_map("type"))] = ()


class PodDisruptionBudget(ApiObject):
    """How many pods of a kind may be evicted at a time."""

    spec: Annotated[PodDisruptionBudgetSpec, Meta(description="The pods and the number.")] = always(
        PodDisruptionBudgetSpec
    )
    status: Annotated[PodDisruptionBudgetStatus, Meta(description="How much of the budget is left.")] = always(
        PodDisruptionBudgetStatus
    )
