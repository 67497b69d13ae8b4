"""What a driver's answers are worth: the rules of the protocol about which claims must be answered, and how."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from dray.driver.claims import ClaimRef
from dray.node.core.prepared_claims import ReadyDevice

__all__ = ["PREPARE", "UNPREPARE", "PrepareAnswer", "find_fault"]

PREPARE = "NodePrepareResources"
UNPREPARE = "NodeUnprepareResources"


class PrepareAnswer(Struct, frozen=True):
    """What became of one claim. With an error, the devices mean nothing."""

    devices: tuple[ReadyDevice, ...] = ()
    error: str = ""


def find_fault(operation: str, asked: Sequence[ClaimRef], errors: Mapping[str, str]) -> str | None:
    """Why answers to a batch of claims are not good enough, if they are not; `errors` has an entry for each answer.

    Every claim asked for, and no other, has to be answered without an error.
    """
    names = {claim.uid: claim.name for claim in asked}
    for uid in sorted(errors):
        if uid not in names:
            return f"{operation} returned result for unknown claim UID {uid}"
        if errors[uid]:
            return f"{operation} failed for ResourceClaim {names[uid]}: {errors[uid]}"
    missing = len(names.keys() - errors.keys())
    return f"{operation} skipped {missing} ResourceClaims" if missing else None
