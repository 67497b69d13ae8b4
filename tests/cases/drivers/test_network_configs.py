"""Each case: a configuration of DRANET, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from dray.driver.config import ConfigError, decode_config
from dray.drivers.net.config import NetworkConfig

CASES = yaml.safe_load(Path(__file__).with_name("network_configs.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    text = msgspec.json.encode(case["config"])
    if case["fault"] is None:
        assert isinstance(decode_config(text, [NetworkConfig]), NetworkConfig)
        return
    with pytest.raises(ConfigError) as caught:
        decode_config(text, [NetworkConfig])
    assert case["fault"] in str(caught.value)
