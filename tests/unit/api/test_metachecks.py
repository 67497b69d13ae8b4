import pytest

from dray.api.meta import ApiObject, ManagedFieldsEntry, ObjectMeta, OwnerReference
from dray.api.metachecks import MAX_ANNOTATIONS_BYTES, check_changed_metadata, check_new_metadata
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM
from dray.errors import FieldError, FieldReason
from dray.values.times import Time

POD = OwnerReference(api_version="v1", kind="Pod", name="x", uid="a", controller=True)
STORED = ObjectMeta(name="c", namespace="n", uid="u", resource_version="1", finalizers=("x.org/a",))


def places(faults: list[FieldError]) -> list[tuple[str, FieldReason]]:
    return [(str(fault.path), fault.reason) for fault in faults]


def new_faults(meta: ObjectMeta) -> list[FieldError]:
    return check_new_metadata(ApiObject(metadata=meta), RESOURCE_CLAIM)


def changed_faults(meta: ObjectMeta, old: ObjectMeta = STORED) -> list[FieldError]:
    return check_changed_metadata(ApiObject(metadata=meta), ApiObject(metadata=old))


INVALID, REQUIRED = FieldReason.INVALID, FieldReason.REQUIRED


@pytest.mark.parametrize(
    ("meta", "want"),
    [
        (ObjectMeta(name="c", namespace="n"), []),
        (ObjectMeta(generate_name="c-", name="c-1", namespace="n"), []),
        (ObjectMeta(namespace="n"), [("metadata.name", REQUIRED)]),
        (ObjectMeta(name="a_b", namespace="n"), [("metadata.name", INVALID)]),
        (
            ObjectMeta(generate_name="AB-", name="AB-1", namespace="n"),
            [("metadata.generateName", INVALID), ("metadata.name", INVALID)],
        ),
        (ObjectMeta(name="c"), [("metadata.namespace", REQUIRED)]),
        (ObjectMeta(name="c", namespace="a.b"), [("metadata.namespace", INVALID)]),
        (ObjectMeta(name="c", namespace="n", generation=-1), [("metadata.generation", INVALID)]),
        (ObjectMeta(name="c", namespace="n", labels={"a b": "c d"}), [("metadata.labels", INVALID)] * 2),
        (ObjectMeta(name="c", namespace="n", annotations={"UPPER.x/y": "any text"}), []),
        (ObjectMeta(name="c", namespace="n", annotations={"/": ""}), [("metadata.annotations", INVALID)] * 3),
        (
            ObjectMeta(name="c", namespace="n", annotations={"a": "x" * MAX_ANNOTATIONS_BYTES}),
            [("metadata.annotations", FieldReason.TOO_LONG)],
        ),
        (ObjectMeta(name="c", namespace="n", finalizers=("nope",)), [("metadata.finalizers[0]", INVALID)]),
        (ObjectMeta(name="c", namespace="n", finalizers=("x.org/a", "kubernetes", "orphan")), []),
        (
            ObjectMeta(name="c", namespace="n", finalizers=("orphan", "foregroundDeletion")),
            [("metadata.finalizers", INVALID)],
        ),
        (
            ObjectMeta(
                name="c", namespace="n", managed_fields=(ManagedFieldsEntry(operation="Zap", fields_type="V9"),)
            ),
            [("metadata.managedFields[0].operation", INVALID), ("metadata.managedFields[0].fieldsType", INVALID)],
        ),
    ],
)
def test_new_metadata(meta: ObjectMeta, want: list[tuple[str, FieldReason]]) -> None:
    assert places(new_faults(meta)) == want


def test_a_cluster_wide_kind_has_no_namespace() -> None:
    faults = check_new_metadata(ApiObject(metadata=ObjectMeta(name="c", namespace="n")), DEVICE_CLASS)
    assert places(faults) == [("metadata.namespace", FieldReason.FORBIDDEN)]


def test_owner_references_are_complete_and_have_one_controller() -> None:
    owners = (POD, OwnerReference(api_version="apps/", kind="Pod", name="y", controller=True), OwnerReference())
    faults = new_faults(ObjectMeta(name="c", namespace="n", owner_references=owners))
    assert places(faults) == [
        ("metadata.ownerReferences[1].apiVersion", INVALID),
        ("metadata.ownerReferences[1].uid", REQUIRED),
        ("metadata.ownerReferences", INVALID),
        ("metadata.ownerReferences[2].apiVersion", REQUIRED),
        ("metadata.ownerReferences[2].kind", REQUIRED),
        ("metadata.ownerReferences[2].name", REQUIRED),
        ("metadata.ownerReferences[2].uid", REQUIRED),
    ]
    assert faults[2].detail.endswith('Found "true" in references for Pod/x and Pod/y')


def test_an_event_owns_nothing() -> None:
    owner = OwnerReference(api_version="v1", kind="Event", name="e", uid="u")
    assert places(new_faults(ObjectMeta(name="c", namespace="n", owner_references=(owner,)))) == [
        ("metadata.ownerReferences[0]", INVALID)
    ]


def test_identity_does_not_change() -> None:
    meta = ObjectMeta(
        name="d",
        namespace="m",
        uid="v",
        resource_version="1",
        creation_timestamp=Time(1),
        deletion_timestamp=Time(2),
        deletion_grace_period_seconds=3,
        finalizers=STORED.finalizers,
    )
    names = ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]
    faults = changed_faults(meta)
    assert places(faults) == [(f"metadata.{name}", INVALID) for name in names]
    assert str(faults[4]) == 'metadata.deletionTimestamp: Invalid value: "1970-01-01T00:00:02Z": field is immutable'


def test_an_update_goes_against_some_version() -> None:
    meta = ObjectMeta(name="c", namespace="n", uid="u", generation=1)
    old = ObjectMeta(name="c", namespace="n", uid="u", generation=2)
    assert places(changed_faults(meta, old)) == [
        ("metadata.resourceVersion", INVALID),
        ("metadata.generation", INVALID),
    ]


def test_a_dying_object_gets_no_new_finalizers() -> None:
    dying = ObjectMeta(resource_version="1", deletion_timestamp=Time(1), finalizers=("x.org/a",))
    assert changed_faults(ObjectMeta(resource_version="1", deletion_timestamp=Time(1)), dying) == []
    more = ObjectMeta(resource_version="1", deletion_timestamp=Time(1), finalizers=("x.org/b", "x.org/a"))
    (fault,) = changed_faults(more, dying)
    assert fault.body == (
        "Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"x.org/b"}'
    )
