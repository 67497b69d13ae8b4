from dray.api.core.limitrange import LimitRange
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.secret import Secret
from dray.api.resource.claim import ResourceClaim
from dray.merge.schema import (
    ANYTHING,
    SCALAR,
    TEXT,
    ListSchema,
    ListType,
    ObjectSchema,
    PatchStrategy,
    Schema,
    get_schema,
)


def at(schema: Schema, *names: str) -> Schema:
    for name in names:
        if isinstance(schema, ListSchema):
            schema = schema.item
        assert isinstance(schema, ObjectSchema)
        schema = schema.schema_of(name)
    return schema


def test_schema_of_a_type_is_made_once() -> None:
    assert get_schema(Pod) is get_schema(Pod)


def test_list_with_keys_knows_their_defaults() -> None:
    ports = at(get_schema(PodSpec), "containers", "ports")
    assert isinstance(ports, ListSchema)
    assert (ports.type, ports.keys) == (ListType.MAP, ("containerPort", "protocol"))
    assert isinstance(ports.item, ObjectSchema)
    assert ports.item.fields["protocol"].default == "TCP"
    assert ports.item.fields["containerPort"].default == 0
    assert ports.item.fields["hostPort"].default is None


def test_patch_strategies_come_with_their_key() -> None:
    spec = get_schema(PodSpec)
    assert (spec.fields["containers"].patch, spec.fields["containers"].merge_key) == (PatchStrategy.MERGE, "name")
    assert spec.fields["volumes"].patch is PatchStrategy.MERGE
    assert spec.fields["tolerations"].patch is None
    finalizers = at(get_schema(Pod), "metadata", "finalizers")
    assert isinstance(finalizers, ListSchema)
    assert finalizers.type is ListType.SET


def test_maps_and_whole_types_may_be_atomic() -> None:
    selector, owner = at(get_schema(Pod), "spec", "nodeSelector"), at(get_schema(Pod), "metadata", "ownerReferences")
    assert isinstance(selector, ObjectSchema)
    assert selector.is_atomic
    assert isinstance(owner, ListSchema)
    assert isinstance(owner.item, ObjectSchema)
    assert owner.item.is_atomic


def test_every_kind_of_leaf_is_known() -> None:
    assert at(get_schema(Secret), "data", "x") is TEXT
    assert at(get_schema(Pod), "metadata", "creationTimestamp") is TEXT
    assert at(get_schema(LimitRange), "spec", "limits", "max", "cpu") is SCALAR
    assert at(get_schema(Pod), "spec", "containers", "livenessProbe", "httpGet", "port") is SCALAR
    raw = at(get_schema(ResourceClaim), "status", "devices", "data")
    assert isinstance(raw, ObjectSchema)
    assert (raw.element, raw.name) == (ANYTHING, "RawExtension")


def test_undeclared_field_is_of_any_type() -> None:
    assert get_schema(Pod).schema_of("zap") is ANYTHING
