"""What a claim looks like that is made from a template, for a pod or for a group of pods.

Its name has Kubernetes' form, but its end comes of the owner and the entry and not of chance: of two who make the claim
for one entry at the same time, or of one who never heard that it was made, the server lets one.
"""

import hashlib
from typing import Final

from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.podclaims import POD_CLAIM_ANNOTATION, is_controlled_by
from dray.effects.entropy import SUFFIX_ALPHABET

__all__ = ["asks_for_admin_access", "is_made_for", "make_claim", "make_generate_name"]

_MOST_PREFIX: Final = 57
"""Of 63 characters, with a hyphen and the suffix."""
_SUFFIX_LENGTH: Final = 5


def make_generate_name(owner: str, entry: str) -> str:
    """The beginning of a claim's name: owner and entry, each shortened by its share where both are too long."""
    full = f"{owner}-{entry}-"
    if len(full) <= _MOST_PREFIX:
        return full
    owner_length, entry_length = (len(part) * _MOST_PREFIX // len(full) for part in (owner, entry))
    return f"{owner[:owner_length]}-{entry[:entry_length]}"


def make_claim(owner: OwnerReference, entry: str, template: ResourceClaimTemplate, attempt: int = 0) -> ResourceClaim:
    """The claim for one entry of an owner, in the namespace of the template. Each attempt has a name of its own."""
    pattern = template.spec.metadata
    prefix = make_generate_name(owner.name, entry)
    return ResourceClaim(
        metadata=ObjectMeta(
            name=prefix + _derive_suffix(f"{owner.uid}/{entry}/{attempt}"),
            generate_name=prefix,
            namespace=template.metadata.namespace,
            labels=pattern.labels,
            annotations={**pattern.annotations, POD_CLAIM_ANNOTATION: entry},
            owner_references=(owner,),
        ),
        spec=template.spec.spec,
    )


def _derive_suffix(text: str) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    letters = (number // len(SUFFIX_ALPHABET) ** place % len(SUFFIX_ALPHABET) for place in range(_SUFFIX_LENGTH))
    return "".join(SUFFIX_ALPHABET[letter] for letter in letters)


def is_made_for(claim: ResourceClaim, owner_uid: str, entry: str) -> bool:
    """Whether the claim was made for an entry of an owner."""
    return is_controlled_by(claim, owner_uid) and claim.metadata.annotations.get(POD_CLAIM_ANNOTATION) == entry


def asks_for_admin_access(claim: ResourceClaim) -> bool:
    """Whether any request wants devices that others use; alternatives cannot."""
    requests = claim.spec.devices.requests or ()
    return any(each.exactly is not None and bool(each.exactly.admin_access) for each in requests)
