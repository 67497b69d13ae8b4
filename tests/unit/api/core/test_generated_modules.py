"""The committed modules are those the table of the generator names."""

import importlib
from typing import Any

import msgspec
import pytest
import yaml

from dray.api.struct import ApiStruct
from tools.generate_core_types import ROOT, camel_case, snake_case

TABLE: dict[str, Any] = yaml.safe_load((ROOT / "tools" / "core_types.yaml").read_text(encoding="utf-8"))
STRUCTS = [
    pytest.param(getattr(importlib.import_module(f"dray.api.core.{module}"), name), id=f"{module}.{name}")
    for module, entry in TABLE["modules"].items()
    for name in entry["types"]
]


@pytest.mark.parametrize("module", sorted(TABLE["modules"]))
def test_modules_have_the_types_of_the_table(module: str) -> None:
    exported = importlib.import_module(f"dray.api.core.{module}").__all__
    assert sorted(exported) == sorted(TABLE["modules"][module]["types"])


@pytest.mark.parametrize("struct", STRUCTS)
def test_python_names_follow_from_those_on_the_wire(struct: type[ApiStruct]) -> None:
    for field in msgspec.structs.fields(struct):
        assert field.name == snake_case(field.encode_name, TABLE["names"])


@pytest.mark.parametrize(
    ("wire", "python"),
    [
        ("podIPs", "pod_ips"),
        ("hostIPC", "host_ipc"),
        ("setHostnameAsFQDN", "set_hostname_as_fqdn"),
        ("targetWWNs", "target_wwns"),
        ("downwardAPI", "downward_api"),
        ("httpGet", "http_get"),
        ("awsElasticBlockStore", "aws_elastic_block_store"),
        ("Port", "port"),
    ],
)
def test_names_are_split_at_words(wire: str, python: str) -> None:
    assert snake_case(wire, {}) == python


def test_plain_names_need_no_wire_name() -> None:
    assert camel_case("resource_claim_template_name") == "resourceClaimTemplateName"
