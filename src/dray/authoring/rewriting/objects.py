"""Every object of the input rewritten, in an order in which each finds what it depends on."""

from __future__ import annotations

from collections.abc import Sequence

from dray.api.codec import get_codec
from dray.api.registry import Registry
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_SLICE
from dray.authoring.drafts import Draft
from dray.authoring.knowledge import Knowledge
from dray.authoring.rewriting.claims import rewrite_claim
from dray.authoring.rewriting.classes import rewrite_class
from dray.authoring.rewriting.classic import gather_parameters, is_classic, rewrite_classic
from dray.authoring.rewriting.envelope import GROUP, rewrite_metadata, rewrite_version
from dray.authoring.rewriting.pods import rewrite_pod_spec
from dray.authoring.rewriting.selectors import driver_of, rewrite_selectors
from dray.authoring.rewriting.slices import rewrite_slice
from dray.errors import ApiError

__all__ = ["rewrite"]


def rewrite(drafts: Sequence[Draft], registry: Registry, knowledge: Knowledge) -> None:
    """Bring all drafts into the shape of v1; `knowledge` learns from their classes and slices."""
    for draft in drafts:
        rewrite_metadata(draft)
    parameters = gather_parameters(drafts)
    for draft in drafts:
        if is_classic(draft):
            rewrite_classic(draft, parameters)
        rewrite_version(draft, registry)
    for draft in drafts:
        if draft.group == GROUP and draft.kind == "DeviceClass":
            _rewrite_class(draft, knowledge)
        elif draft.group == GROUP and draft.kind == "ResourceSlice":
            _rewrite_slice(draft, knowledge)
    for draft in drafts:
        _rewrite_wish(draft, knowledge)


def _rewrite_wish(draft: Draft, knowledge: Knowledge) -> None:
    """Claims, and pods that use them."""
    for claim in draft.device_claims():
        rewrite_claim(draft, claim, knowledge)
    for request in draft.requests():
        rewrite_selectors(draft, request, driver_of(request, knowledge), knowledge)
    for spec in draft.pod_specs():
        rewrite_pod_spec(draft, spec, knowledge)


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
