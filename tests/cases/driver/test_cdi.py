"""CDI files, as a table: what is valid, and which version it takes."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from dray.driver.cdi import CdiSpec
from dray.driver.cdifiles import CdiError, decode_cdi_spec, encode_cdi_spec
from dray.driver.cdirules import check_cdi_spec, get_least_version

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("cdi.yaml").read_text(encoding="utf-8"))
SOUND = {
    "cdiVersion": "0.3.0",
    "kind": "example.com/gpu",
    "devices": [{"name": "gpu-0", "containerEdits": {"env": ["GPU=0"]}}],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_file_is_checked(case: dict[str, Any]) -> None:
    tree = SOUND | ({"containerEdits": case["edits"]} if "edits" in case else {}) | case.get("spec", {})
    spec = msgspec.convert(tree, CdiSpec)
    assert [str(fault.path) for fault in check_cdi_spec(spec)] == case.get("faults", [])
    if "faults" in case:
        with pytest.raises(CdiError):
            encode_cdi_spec(spec)
    else:
        assert get_least_version(spec) == case["version"]
        assert decode_cdi_spec(encode_cdi_spec(spec)) == spec


def test_unknown_field_makes_a_file_unreadable() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        decode_cdi_spec(msgspec.json.encode(SOUND | {"device": []}))
