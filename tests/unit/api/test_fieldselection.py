import pytest

from dray.api.fieldselection import compile_field_selector
from dray.api.meta import ObjectMeta
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice, ResourceSliceSpec
from dray.errors import BadRequest
from dray.values.fieldselectors import parse_field_selector

SLICE = ResourceSlice(metadata=ObjectMeta(name="s"), spec=ResourceSliceSpec(driver="d.x", node_name="n"))


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        ("", True),
        ("metadata.name=s", True),
        ("metadata.name!=s", False),
        ("spec.nodeName=n,spec.driver=d.x", True),
        ("spec.nodeName=n,spec.driver=other", False),
        ("metadata.namespace=", True),
    ],
)
def test_selector_matches(selector: str, want: bool) -> None:
    assert compile_field_selector(RESOURCE_SLICE, "v1", parse_field_selector(selector))(SLICE) is want


def test_fields_that_a_kind_does_not_offer_are_refused() -> None:
    with pytest.raises(BadRequest) as caught:
        compile_field_selector(RESOURCE_SLICE, "v1", parse_field_selector("spec.zz=1"))
    assert caught.value.message == ("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.zz")
    with pytest.raises(BadRequest) as caught:
        compile_field_selector(RESOURCE_CLAIM, "v1", parse_field_selector("spec.zz=1"))
    assert caught.value.message == (
        '"spec.zz" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )
