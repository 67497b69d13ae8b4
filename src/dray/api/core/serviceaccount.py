"""`ServiceAccount`: an identity for pods."""

from typing import Annotated

from msgspec import Meta

from dray.api.core.references import LocalObjectReference, ObjectReference
from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, list_map

__all__ = ["ServiceAccount"]


class ServiceAccount(ApiObject):
    """An identity that pods act under, `system:serviceaccount:<namespace>:<name>` to the authorizer."""

    secrets: Annotated[
        tuple[ObjectReference, ...],
        Meta(description="Secrets that pods of the account may use.", extra=list_map("name")),
    ] = ()
    image_pull_secrets: Annotated[
        tuple[LocalObjectReference, ...],
        Meta(description="Registry credentials for pods that name none.", extra=ATOMIC),
    ] = ()
    automount_service_account_token: Annotated[
        bool | None, Meta(description="Whether pods get a token mounted; a pod's own setting wins.")
    ] = None
