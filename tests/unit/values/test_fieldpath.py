import pytest

from dray.values.fieldpath import METADATA, ROOT, SPEC, STATUS, FieldPath, key


@pytest.mark.parametrize(
    ("path", "want"),
    [
        (ROOT, ""),
        (METADATA / "name", "metadata.name"),
        (SPEC / "devices" / 0 / "attributes" / key("a.b/c") / "string", "spec.devices[0].attributes[a.b/c].string"),
        (STATUS / "devices" / 0 / 1, "status.devices[0][1]"),
    ],
)
def test_a_path_prints_as_kubernetes_prints_it(path: FieldPath, want: str) -> None:
    assert str(path) == want


def test_paths_are_values() -> None:
    assert SPEC / "a" == ROOT / "spec" / "a"
    assert SPEC / key("a") != SPEC / "a"
    assert len({SPEC / "a", SPEC / "a", SPEC / 0}) == 2
    assert (SPEC / "a" / 0).segments() == ("spec", "a", 0)
    assert repr(SPEC) == "FieldPath('spec')"
    assert SPEC != "spec"
