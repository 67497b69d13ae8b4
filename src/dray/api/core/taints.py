"""Taints that keep pods off a node, and the tolerations that let them on it.

Written by tools/generate_core_types.py; change its table, not this.
"""

from typing import Annotated

from msgspec import Meta

from dray.api.struct import REQUIRED, ApiStruct, Int64, always
from dray.values.times import Time

__all__ = ["Taint", "Toleration"]


class Taint(ApiStruct):
    """A mark on a node that repels every pod that does not tolerate it."""

    key: Annotated[str, Meta(description="What the taint is about, a label key.", extra=REQUIRED)] = always(str)
    value: Annotated[str, Meta(description="Value that goes with the key.")] = ""
    effect: Annotated[
        str,
        Meta(
            description="What befalls pods without a fitting toleration.",
            extra=REQUIRED
            | {
                "enum": (
                    "NoExecute",
                    "NoSchedule",
                    "PreferNoSchedule",
                )
            },
        ),
    ] = always(str)
    time_added: Annotated[Time | None, Meta(description="When the taint was added; set for NoExecute only.")] = None


class Toleration(ApiStruct):
    """Permission to run in spite of the taints it matches."""

    key: Annotated[
        str, Meta(description="Taint key that is tolerated; empty, with operator Exists, tolerates every key.")
    ] = ""
    operator: Annotated[
        str,
        Meta(
            description="How the value is compared; absent is Equal, and Exists asks for no value.",
            extra={
                "enum": (
                    "Equal",
                    "Exists",
                    "Gt",
                    "Lt",
                )
            },
        ),
    ] = ""
    value: Annotated[str, Meta(description="Taint value that is tolerated with operator Equal.")] = ""
    effect: Annotated[
        str,
        Meta(
            description="Taint effect that is tolerated; empty tolerates every effect.",
            extra={
                "enum": (
                    "NoExecute",
                    "NoSchedule",
                    "PreferNoSchedule",
                )
            },
        ),
    ] = ""
    toleration_seconds: Annotated[
        Int64 | None,
        Meta(description="How long a NoExecute taint is tolerated; absent is for ever, zero or less not at all."),
    ] = None
