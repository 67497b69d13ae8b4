"""`Role` and `ClusterRole`: lists of what may be done."""

from typing import Annotated

from msgspec import Meta, field

from dray.api.meta import ApiObject, LabelSelector
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always

__all__ = ["AggregationRule", "ClusterRole", "PolicyRule", "Role"]


class PolicyRule(ApiStruct):
    """Allows some verbs on some resources, or on some paths. `*` stands for all."""

    verbs: Annotated[tuple[str, ...], Meta(description="What may be done.", extra=REQUIRED | ATOMIC)] = always(
        lambda: ()
    )
    api_groups: Annotated[
        tuple[str, ...], Meta(description="Groups of the resources; the empty text is the core group.", extra=ATOMIC)
    ] = ()
    resources: Annotated[
        tuple[str, ...], Meta(description="Resources, with /name for a subresource.", extra=ATOMIC)
    ] = ()
    resource_names: Annotated[
        tuple[str, ...], Meta(description="Names the rule is confined to; absent is every name.", extra=ATOMIC)
    ] = ()
    non_resource_urls: Annotated[
        tuple[str, ...],
        Meta(description="Paths outside the resources, with * at the end for all below.", extra=ATOMIC),
    ] = field(default=(), name="nonResourceURLs")


class Role(ApiObject):
    """What may be done in one namespace, once it is bound to somebody."""

    rules: Annotated[tuple[PolicyRule, ...], Meta(description="What is allowed.", extra=ATOMIC)] = always(lambda: ())


class AggregationRule(ApiStruct):
    """Which cluster roles a role is put together from."""

    cluster_role_selectors: Annotated[
        tuple[LabelSelector, ...], Meta(description="A role that one of these selects is included.", extra=ATOMIC)
    ] = ()


class ClusterRole(ApiObject):
    """What may be done everywhere, or in one namespace if a RoleBinding refers to it."""

    rules: Annotated[
        tuple[PolicyRule, ...],
        Meta(description="What is allowed; kept by a controller where there is an aggregation rule.", extra=ATOMIC),
    ] = always(lambda: ())
    aggregation_rule: Annotated[
        AggregationRule | None, Meta(description="Cluster roles whose rules make up this one's.")
    ] = None
