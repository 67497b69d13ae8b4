"""Every object of the input rewritten, in an order in which each finds what it depends on."""

from __future__ import annotations

from collections.abc import Sequence

from dray.api.codec import get_codec
from dray.api.registry import Registry
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_SLICE
from dray.authoring.drafts import Draft
from dray.authoring.knowledge import Knowledge
from dray.authoring.rewriting.claims import place_claim_spec, rewrite_claim
from dray.authoring.rewriting.classes import rewrite_class
from dray.authoring.rewriting.classic import is_classic, rewrite_classic, rewrite_parameters
from dray.authoring.rewriting.envelope import (
    GROUP,
    rewrite_doubles,
    rewrite_kind,
    rewrite_metadata,
    rewrite_namespace,
    rewrite_version,
)
from dray.authoring.rewriting.parameters import gather_parameters
from dray.authoring.rewriting.pods import Names, rewrite_pod_spec
from dray.authoring.rewriting.selectors import driver_of, rewrite_selectors
from dray.authoring.rewriting.slices import rewrite_slice
from dray.authoring.rewriting.taintrules import rewrite_taint_rule
from dray.errors import ApiError

__all__ = ["rewrite"]


def rewrite(drafts: Sequence[Draft], registry: Registry, knowledge: Knowledge) -> None:
    """Bring all drafts into the shape of v1; `knowledge` learns from their classes and slices."""
    for draft in drafts:
        rewrite_doubles(draft)
        rewrite_metadata(draft)
        rewrite_kind(draft, registry)
        draft.former, draft.former_kind = draft.api_version, draft.kind
        place_claim_spec(draft)
    parameters = gather_parameters(drafts)
    names = Names({(each.namespace, each.name) for each in drafts if each.kind == "ResourceClaimTemplate"})
    for draft in sorted(drafts, key=_rank):
        if is_classic(draft):
            rewrite_classic(draft, parameters, knowledge)
        rewrite_version(draft, registry)
        _rewrite_supply(draft, knowledge)
        _rewrite_wish(draft, knowledge, names)
    for draft in parameters.found():
        if registry.find_kind(draft.api_version, draft.kind) is None and "/" in draft.api_version:
            rewrite_parameters(draft)


def _rank(draft: Draft) -> int:
    """What others are judged by goes before them."""
    return {"ResourceSlice": 0, "ResourceClass": 1, "DeviceClass": 1}.get(draft.kind, 2)


def _rewrite_supply(draft: Draft, knowledge: Knowledge) -> None:
    """What claims are held against."""
    if draft.is_dropped:
        return
    if draft.group == GROUP and draft.kind == "DeviceClass":
        _rewrite_class(draft, knowledge)
    elif draft.group == GROUP and draft.kind == "ResourceSlice":
        _rewrite_slice(draft, knowledge)
    elif draft.group == GROUP and draft.kind == "DeviceTaintRule":
        rewrite_taint_rule(draft, knowledge)
    elif (draft.api_version, draft.kind) == ("v1", "Namespace"):
        rewrite_namespace(draft)


def _rewrite_wish(draft: Draft, knowledge: Knowledge, names: Names) -> None:
    """Claims, and pods that use them."""
    for claim in draft.device_claims():
        rewrite_claim(draft, claim, knowledge)
    for request in draft.requests():
        rewrite_selectors(draft, request, driver_of(request, knowledge), knowledge)
    for spec in list(draft.pod_specs()):
        rewrite_pod_spec(draft, spec, knowledge, names)


def _rewrite_class(draft: Draft, knowledge: Knowledge) -> None:
    rewrite_class(draft)
    spec = draft.tree.find("spec")
    if spec is not None:
        rewrite_selectors(draft, spec, driver_of(spec, knowledge), knowledge)
    try:
        knowledge.learn_class(get_codec(DEVICE_CLASS, "v1").decode(draft.tree.json()))
    except ApiError:  # told when the schema is checked
        return


def _rewrite_slice(draft: Draft, knowledge: Knowledge) -> None:
    rewrite_slice(draft)
    try:
        piece = get_codec(RESOURCE_SLICE, "v1").decode(draft.tree.json())
    except ApiError:  # told when the schema is checked
        return
    if piece.spec.devices and piece.spec.driver:
        knowledge.learn_slice(piece)
