"""Nothing of an object is lost on the way through the codec."""

import msgspec
import pytest

from dray.api.codec import decode, encode, encode_value
from dray.api.core.kinds import NODE, POD
from dray.api.kind import Kind
from dray.api.registry import SERVED
from tests.unit.api.core.maximal import make_maximal, wire_paths, written_paths

KINDS = [kind for kind in SERVED if kind.group != "resource.k8s.io"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.group}/{kind.plural}")
def test_every_field_survives(kind: Kind) -> None:  # type: ignore[type-arg]  # of any object
    whole = make_maximal(kind.struct)
    text = encode(kind, whole, kind.declared_version)
    for strict in (False, True):
        again = decode(kind, kind.declared_version, text, strict=strict)
        assert encode(kind, again, kind.declared_version) == text
        assert msgspec.structs.replace(again, kind=whole.kind, api_version=whole.api_version) == whole


@pytest.mark.parametrize("kind", [POD, NODE], ids=["pods", "nodes"])
def test_every_field_is_written(kind: Kind) -> None:  # type: ignore[type-arg]
    written = set(written_paths(msgspec.json.decode(encode_value(make_maximal(kind.struct)))))
    keys = {path for path in wire_paths(kind.struct) if path not in written}
    assert keys == set()
    assert len(written) > {"pods": 1400, "nodes": 100}[kind.plural]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.group}/{kind.plural}")
def test_an_empty_object_is_read_and_written(kind: Kind) -> None:  # type: ignore[type-arg]
    empty = decode(kind, kind.declared_version, b"{}")
    text = encode(kind, empty, kind.declared_version)
    assert decode(kind, kind.declared_version, text) == empty
