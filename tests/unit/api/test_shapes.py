import msgspec
import pytest

from dray.api.core.pod import Pod
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.v1beta1 import SLICE, BasicDevice
from dray.api.shapes import (
    CustomShape,
    ListShape,
    MapShape,
    ObjectShape,
    ScalarShape,
    get_shape,
    refuse_unknown_fields,
    reshape,
)
from dray.values.times import Time


def test_a_type_has_one_shape() -> None:
    assert get_shape(ObjectMeta) is get_shape(ObjectMeta)
    assert get_shape(ResourceClaim).fields["metadata"].shape is get_shape(ObjectMeta)


def test_fields_are_known_by_their_wire_names() -> None:
    fields = get_shape(ObjectMeta).fields
    assert fields["creationTimestamp"].shape == CustomShape(Time)
    assert fields["creationTimestamp"].nullable
    assert fields["generation"].shape == ScalarShape("int64")
    assert fields["labels"].shape == MapShape(ScalarShape("string"))
    assert fields["finalizers"].facts == {"list": "set", "patch": "merge"}
    assert isinstance(fields["ownerReferences"].shape, ListShape)
    assert not fields["name"].always
    assert get_shape(Pod).fields["metadata"].always


def test_reshaping_changes_only_what_leads_to_a_replaced_type() -> None:
    old = reshape(ResourceSlice, SLICE.replaced)
    assert old is not ResourceSlice
    assert old.__name__ == "ResourceSlice"
    shape = get_shape(old)
    assert shape.fields["metadata"].shape is get_shape(ObjectMeta)
    spec = shape.fields["spec"].shape
    assert isinstance(spec, ObjectShape)
    devices = spec.fields["devices"].shape
    assert isinstance(devices, ListShape)
    assert isinstance(devices.item, ObjectShape)
    assert devices.item.fields["basic"].shape is get_shape(BasicDevice)
    assert reshape(ObjectMeta, SLICE.replaced) is ObjectMeta


@pytest.mark.parametrize(
    "text", [b'{"bogus": 1}', b'{"metadata": {"bogus": 1}}', b'{"spec": {"containers": [{"x": 1}]}}']
)
def test_a_refusing_variant_refuses_at_any_depth(text: bytes) -> None:
    msgspec.json.decode(text, type=Pod, dec_hook=lambda target, value: None)
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(text, type=refuse_unknown_fields(Pod), dec_hook=lambda target, value: None)
