"""What a claim looks like that is made from a template, for a pod or for a group of pods."""

from typing import Final

from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.podclaims import POD_CLAIM_ANNOTATION

__all__ = ["asks_for_admin_access", "make_claim", "make_generate_name"]

_MOST_PREFIX: Final = 57
"""Of 63 characters, with a hyphen and five that the server appends."""


def make_generate_name(owner: str, entry: str) -> str:
    """The beginning of a claim's name: owner and entry, each shortened by its share where both are too long."""
    full = f"{owner}-{entry}-"
    if len(full) <= _MOST_PREFIX:
        return full
    owner_length, entry_length = (len(part) * _MOST_PREFIX // len(full) for part in (owner, entry))
    return f"{owner[:owner_length]}-{entry[:entry_length]}"


def make_claim(owner: OwnerReference, entry: str, template: ResourceClaimTemplate) -> ResourceClaim:
    """The claim for one entry of an owner, in the namespace of the template."""
    pattern = template.spec.metadata
    return ResourceClaim(
        metadata=ObjectMeta(
            generate_name=make_generate_name(owner.name, entry),
            namespace=template.metadata.namespace,
            labels=pattern.labels,
            annotations={**pattern.annotations, POD_CLAIM_ANNOTATION: entry},
            owner_references=(owner,),
        ),
        spec=template.spec.spec,
    )


def asks_for_admin_access(claim: ResourceClaim) -> bool:
    """Whether any request wants devices that others use; alternatives cannot."""
    requests = claim.spec.devices.requests or ()
    return any(each.exactly is not None and bool(each.exactly.admin_access) for each in requests)
