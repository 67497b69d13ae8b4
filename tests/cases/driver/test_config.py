"""Configurations of drivers, as a table."""

import json
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
import yaml

from dray.driver import ConfigError, ConfigPart, DriverConfig, Quantity, decode_config, encode_config

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("config.yaml").read_text(encoding="utf-8"))


class Sharing(ConfigPart, frozen=True):
    strategy: Literal["TimeSlicing", "Exclusive"]
    interval: int = 1

    def __post_init__(self) -> None:
        if self.interval > 10:
            raise ValueError("the interval is at most 10")


class GpuConfig(DriverConfig, frozen=True):
    api_version = "gpu.example.com/v1"
    sharing: Sharing | None = None
    memory: Quantity = Quantity.of(0)


class Plain(DriverConfig, frozen=True):
    api_version = "gpu.example.com/v1"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_configuration_is_decoded(case: dict[str, Any]) -> None:
    text = case["text"] if "text" in case else json.dumps(case["decode"])
    if "error" in case:
        with pytest.raises(ConfigError) as refusal:
            decode_config(text.encode(), (GpuConfig, Plain))
        assert str(refusal.value).startswith(case["error"])
        return
    config = decode_config(text.encode(), (GpuConfig, Plain))
    assert msgspec.to_builtins(config, enc_hook=str) == case["want"]
    assert decode_config(encode_config(config), (GpuConfig, Plain)) == config


def test_driver_without_configurations_takes_none() -> None:
    with pytest.raises(ConfigError, match="takes no configuration"):
        decode_config(b'{"apiVersion": "gpu.example.com/v1", "kind": "Plain"}', ())
