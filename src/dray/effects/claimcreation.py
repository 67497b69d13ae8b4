"""How claims are counted that the cluster makes: under one name, whether a controller or the scheduler makes them."""

from prometheus_client import CollectorRegistry, Counter

from dray.api.meta import OwnerReference

__all__ = ["ClaimCreations"]


class ClaimCreations:
    """Counts for everybody whose metrics are in one registry, which has it once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._creates = Counter(
            "dynamic_resource_allocation_resourceclaim_creates",
            "Claims that were made, or could not be made.",
            ("status", "admin_access", "owner_api_group", "owner_api_kind"),
            registry=registry,
        )

    def count(self, owner: OwnerReference, *, is_made: bool, is_for_administrators: bool = False) -> None:
        """A claim was made for an owner, or could not be."""
        group = owner.api_version.rpartition("/")[0]
        status, admin = "success" if is_made else "failure", str(is_for_administrators).lower()
        self._creates.labels(status, admin, group, owner.kind).inc()
