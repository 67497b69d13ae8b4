import pytest

from dray.errors import (
    ApiError,
    BadRequest,
    Conflict,
    FieldError,
    Gone,
    Invalid,
    ObjectRef,
    duplicate,
    forbidden,
    internal,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
    too_many,
)
from dray.values.fieldpath import SPEC, key

COUNT = SPEC / "devices" / 0 / "count"


@pytest.mark.parametrize(
    ("fault", "want"),
    [
        (required(COUNT), "Required value"),
        (required(COUNT, "say how many"), "Required value: say how many"),
        (invalid(COUNT, -1, "must be positive"), "Invalid value: -1: must be positive"),
        (invalid(COUNT, "a\n", "no"), 'Invalid value: "a\\n": no'),
        (invalid(COUNT, None, "field is immutable"), "Invalid value: null: field is immutable"),
        (invalid(COUNT, True, "no"), "Invalid value: true: no"),
        (forbidden(COUNT, "not here"), "Forbidden: not here"),
        (not_supported(COUNT, "C", ["A", "B"]), 'Unsupported value: "C": supported values: "A", "B"'),
        (duplicate(COUNT, "a"), 'Duplicate value: "a"'),
        (too_long(COUNT, 63), "Too long: may not be more than 63 bytes"),
        (too_many(COUNT, 33, 32), "Too many: 33: must have at most 32 items"),
        (too_many(COUNT, 2, 1), "Too many: 2: must have at most 1 item"),
        (not_found(COUNT, "gpu"), 'Not found: "gpu"'),
        (internal(COUNT, "no answer"), "Internal error: no answer"),
    ],
)
def test_bodies_of_faults_read_as_in_kubernetes(fault: FieldError, want: str) -> None:
    assert fault.body == want
    assert str(fault) == f"spec.devices[0].count: {want}"


def test_invalid_names_the_object_and_every_fault_once() -> None:
    about = ObjectRef("resource.k8s.io", "ResourceClaim", "resourceclaims", "ml", "train-0")
    path = SPEC / "labels" / key("a.b/c")
    one = Invalid(about, [required(path)])
    assert one.message == 'ResourceClaim.resource.k8s.io "train-0" is invalid: spec.labels[a.b/c]: Required value'
    two = Invalid(about, [required(path), required(path), duplicate(SPEC, 1)])
    assert two.message.endswith("is invalid: [spec.labels[a.b/c]: Required value, spec: Duplicate value: 1]")
    assert len(two.faults) == 3


def test_core_kinds_are_named_without_group() -> None:
    about = ObjectRef(kind="Pod", resource="pods", name="p")
    assert (about.qualified_kind, about.qualified_resource) == ("Pod", "pods")


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (ApiError("x"), 500, ""),
        (BadRequest("x"), 400, "BadRequest"),
        (Conflict("x"), 409, "Conflict"),
        (Gone("x"), 410, "Expired"),
        (Invalid(ObjectRef(), [required(SPEC)]), 422, "Invalid"),
    ],
)
def test_errors_carry_code_and_reason(error: ApiError, code: int, reason: str) -> None:
    assert (error.code, error.reason) == (code, reason)
