"""Node selectors: which nodes something may be used from, or run on."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always

__all__ = ["NodeSelector", "NodeSelectorOperator", "NodeSelectorRequirement", "NodeSelectorTerm"]


class NodeSelectorOperator(StrEnum):
    """How a requirement compares the value of a node with its own values."""

    DOES_NOT_EXIST = "DoesNotExist"
    EXISTS = "Exists"
    GT = "Gt"
    IN = "In"
    LT = "Lt"
    NOT_IN = "NotIn"


class NodeSelectorRequirement(ApiStruct):
    """One condition on one label or field of a node.

    `In` and `NotIn` need values, `Exists` and `DoesNotExist` have none, `Gt` and `Lt` have one, an integer.
    """

    key: Annotated[
        str,
        Meta(description="Label key, or name of the field, that the condition looks at.", extra=REQUIRED),
    ] = always(str)
    operator: Annotated[
        str,
        Meta(
            description="How to compare: In, NotIn, Exists, DoesNotExist, Gt or Lt.",
            extra={"enum": NodeSelectorOperator} | REQUIRED,
        ),
    ] = always(str)
    values: Annotated[
        tuple[str, ...],
        Meta(
            description="What to compare with: one or more values for In and NotIn, none for Exists and "
            "DoesNotExist, one integer for Gt and Lt.",
            extra=ATOMIC,
        ),
    ] = ()


class NodeSelectorTerm(ApiStruct):
    """Conditions that must all hold. A term without any condition matches no node."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    match_expressions: Annotated[
        tuple[NodeSelectorRequirement, ...],
        Meta(description="Conditions on the labels of the node.", extra=ATOMIC),
    ] = ()
    match_fields: Annotated[
        tuple[NodeSelectorRequirement, ...],
        Meta(
            description="Conditions on fields of the node; metadata.name is the only one known.",
            extra=ATOMIC,
        ),
    ] = ()


class NodeSelector(ApiStruct):
    """Alternatives: a node is selected if at least one term matches it."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    node_selector_terms: Annotated[
        tuple[NodeSelectorTerm, ...],
        Meta(
            description="Alternatives, of which at least one has to match. There must be at least one.",
            extra=REQUIRED | ATOMIC,
        ),
    ] = always(tuple)
