"""`PriorityClass`: a name for a priority of pods."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.struct import Int32, always

__all__ = ["PriorityClass"]


class PriorityClass(ApiObject):
    """A name for a priority of pods. The value can never change."""

    value: Annotated[Int32, Meta(description="The priority; more is more urgent. At most 1000000000 for users.")] = (
        always(int)
    )
    global_default: Annotated[bool, Meta(description="Whether pods without a class get this one.")] = False
    description: Annotated[str, Meta(description="When to use the class.")] = ""
    preemption_policy: Annotated[
        str | None,
        Meta(
            description="Whether pods of the class push others off a node; absent is PreemptLowerPriority.",
            extra={"enum": ("Never", "PreemptLowerPriority")},
        ),
    ] = None
