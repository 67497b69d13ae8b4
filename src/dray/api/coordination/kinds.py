"""The kinds of `coordination.k8s.io`, and what belongs to each."""

from dray.api.columns import AGE, NAME, Column
from dray.api.coordination.checks import check_lease
from dray.api.coordination.lease import Lease
from dray.api.kind import Kind, Scope, ServedVersion

__all__ = ["GROUP", "KINDS", "LEASE"]

GROUP = "coordination.k8s.io"

LEASE: Kind[Lease] = Kind(
    struct=Lease,
    group=GROUP,
    plural="leases",
    singular="lease",
    scope=Scope.NAMESPACED,
    versions=(ServedVersion("v1", unconditional_update=False, delete_returns_object=False),),
    storage_version="v1",
    create_checks=(check_lease,),
    update_checks=(check_lease,),
    columns=(
        NAME,
        Column("Holder", lambda lease, now: lease.spec.holder_identity or "", description="Who holds the lease."),
        AGE,
    ),
)

KINDS = (LEASE,)
"""All kinds of the group, in the order in which discovery lists them."""
