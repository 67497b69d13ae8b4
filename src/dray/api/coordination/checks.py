"""What the API server refuses in leases."""

from collections.abc import Iterator

from dray.api.checks import CheckContext
from dray.api.coordination.lease import Lease, LeaseSpec
from dray.errors import FieldError, invalid, required
from dray.values.fieldpath import SPEC

__all__ = ["check_lease"]


def check_lease(new: Lease, old: Lease | None, context: CheckContext) -> list[FieldError]:
    """Durations are positive, and a preference needs a strategy."""
    return list(_spec_faults(new.spec))


def _spec_faults(spec: LeaseSpec) -> Iterator[FieldError]:
    if spec.lease_duration_seconds is not None and spec.lease_duration_seconds <= 0:
        yield invalid(SPEC / "leaseDurationSeconds", spec.lease_duration_seconds, "must be greater than 0")
    if spec.lease_transitions is not None and spec.lease_transitions < 0:
        yield invalid(SPEC / "leaseTransitions", spec.lease_transitions, "must be greater than or equal to 0")
    if spec.preferred_holder and not spec.strategy:
        yield required(SPEC / "strategy", "must be specified when `preferredHolder` is specified")
