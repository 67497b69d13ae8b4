"""The kinds of `resource.k8s.io`: where they are served, and what belongs to each.

The one place that puts types, versions, defaults, checks and columns together. v1 is preferred; the older versions are
the ones that the API server of release 1.37 still has, with the warnings that it gives for them.
"""

from typing import Any

from dray.api.columns import AGE, NAME
from dray.api.kind import STATUS, Kind, Scope, ServedVersion, Upgrade
from dray.api.resource import columns, defaults, prepare, v1beta1
from dray.api.resource.checks import claim as claim_checks
from dray.api.resource.checks import claimtemplate as template_checks
from dray.api.resource.checks import deviceclass as class_checks
from dray.api.resource.checks import poolstatus as pool_status_checks
from dray.api.resource.checks import slice as slice_checks
from dray.api.resource.checks import taintrule as taint_rule_checks
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.poolstatus import ResourcePoolStatusRequest
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule

__all__ = [
    "DEVICE_CLASS",
    "DEVICE_TAINT_RULE",
    "GROUP",
    "KINDS",
    "RESOURCE_CLAIM",
    "RESOURCE_CLAIM_TEMPLATE",
    "RESOURCE_POOL_STATUS_REQUEST",
    "RESOURCE_SLICE",
]

GROUP = "resource.k8s.io"


def _deprecation(version: str, kind: str, since: str, until: str) -> str:
    """The warning of a version that is deprecated in `since` and gone in `until`."""
    return f"{GROUP}/{version} {kind} is deprecated in {since}+, unavailable in {until}+"


def _core_versions(kind: str, upgrade: Upgrade | None = None) -> tuple[ServedVersion, ...]:
    """The versions of the kinds that exist since v1beta1, which differs from v1 for some of them."""
    return (
        ServedVersion("v1"),
        ServedVersion("v1beta2", deprecation=_deprecation("v1beta2", kind, "v1.36", "v1.39")),
        ServedVersion("v1beta1", upgrade, deprecation=_deprecation("v1beta1", kind, "v1.35", "v1.38")),
    )


def _warn_of_upper_case(new: ResourceSlice) -> list[str]:
    driver = new.spec.driver
    if driver == driver.lower():
        return []
    return [f'spec.driver: driver names should be lowercase; "{driver}" contains uppercase characters']


RESOURCE_SLICE: Kind[ResourceSlice] = Kind(
    struct=ResourceSlice,
    group=GROUP,
    plural="resourceslices",
    singular="resourceslice",
    scope=Scope.CLUSTER,
    versions=_core_versions("ResourceSlice", v1beta1.SLICE),
    storage_version="v1",
    counts_generations=True,
    default=defaults.default_slice,
    prepare_update=prepare.prepare_slice_update,
    create_checks=slice_checks.create_checks,
    update_checks=slice_checks.update_checks,
    warnings=_warn_of_upper_case,
    columns=(NAME, *columns.SLICE_COLUMNS, AGE),
    field_selectors={
        "spec.nodeName": lambda new: new.spec.node_name or "",
        "spec.driver": lambda new: new.spec.driver,
        "spec.pool.name": lambda new: new.spec.pool.name,
    },
)

RESOURCE_CLAIM: Kind[ResourceClaim] = Kind(
    struct=ResourceClaim,
    group=GROUP,
    plural="resourceclaims",
    singular="resourceclaim",
    scope=Scope.NAMESPACED,
    versions=_core_versions("ResourceClaim", v1beta1.CLAIM),
    storage_version="v1",
    subresources=(STATUS,),
    default=defaults.default_claim,
    prepare_create=prepare.prepare_claim_create,
    prepare_update=prepare.prepare_claim_update,
    prepare_status=prepare.prepare_claim_status,
    create_checks=claim_checks.create_checks,
    update_checks=claim_checks.update_checks,
    status_checks=claim_checks.status_checks,
    columns=(NAME, *columns.CLAIM_COLUMNS, AGE),
)

RESOURCE_CLAIM_TEMPLATE: Kind[ResourceClaimTemplate] = Kind(
    struct=ResourceClaimTemplate,
    group=GROUP,
    plural="resourceclaimtemplates",
    singular="resourceclaimtemplate",
    scope=Scope.NAMESPACED,
    versions=_core_versions("ResourceClaimTemplate", v1beta1.CLAIM_TEMPLATE),
    storage_version="v1",
    default=defaults.default_claim_template,
    create_checks=template_checks.create_checks,
    update_checks=template_checks.update_checks,
)

DEVICE_CLASS: Kind[DeviceClass] = Kind(
    struct=DeviceClass,
    group=GROUP,
    plural="deviceclasses",
    singular="deviceclass",
    scope=Scope.CLUSTER,
    versions=_core_versions("DeviceClass"),
    storage_version="v1",
    counts_generations=True,
    prepare_update=prepare.prepare_class_update,
    create_checks=class_checks.create_checks,
    update_checks=class_checks.update_checks,
)

DEVICE_TAINT_RULE: Kind[DeviceTaintRule] = Kind(
    struct=DeviceTaintRule,
    group=GROUP,
    plural="devicetaintrules",
    singular="devicetaintrule",
    scope=Scope.CLUSTER,
    versions=(
        ServedVersion("v1", unconditional_update=False, delete_returns_object=False),
        ServedVersion("v1beta2"),
        ServedVersion("v1alpha3", deprecation=_deprecation("v1alpha3", "DeviceTaintRule", "v1.36", "v1.39")),
    ),
    storage_version="v1beta2",
    subresources=(STATUS,),
    counts_generations=True,
    default=defaults.default_taint_rule,
    prepare_create=prepare.prepare_taint_rule_create,
    prepare_update=prepare.prepare_taint_rule_update,
    prepare_status=prepare.prepare_taint_rule_status,
    create_checks=taint_rule_checks.create_checks,
    update_checks=taint_rule_checks.update_checks,
    status_checks=taint_rule_checks.status_checks,
    columns=(NAME, *columns.TAINT_RULE_COLUMNS, AGE),
)

RESOURCE_POOL_STATUS_REQUEST: Kind[ResourcePoolStatusRequest] = Kind(
    struct=ResourcePoolStatusRequest,
    group=GROUP,
    plural="resourcepoolstatusrequests",
    singular="resourcepoolstatusrequest",
    scope=Scope.CLUSTER,
    versions=(ServedVersion("v1alpha3", unconditional_update=False),),
    storage_version="v1alpha3",
    subresources=(STATUS,),
    default=defaults.default_pool_status_request,
    prepare_create=prepare.prepare_pool_status_request_create,
    prepare_update=prepare.prepare_pool_status_request_update,
    prepare_status=prepare.prepare_pool_status_request_status,
    create_checks=pool_status_checks.create_checks,
    update_checks=pool_status_checks.update_checks,
    status_checks=pool_status_checks.status_checks,
    columns=(NAME, *columns.POOL_STATUS_REQUEST_COLUMNS),
)

KINDS: tuple[Kind[Any], ...] = (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
"""All kinds of the group, in the order in which discovery lists them."""
