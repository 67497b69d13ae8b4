from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.client.connection import Connection, ProxyRules
from dray.client.proxies import ProxyError, choose_proxy

CASES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).parents[2].joinpath("cases", "client", "proxies.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_way_to_a_server(case: dict[str, Any]) -> None:
    rules = ProxyRules(case.get("https", ""), case.get("http", ""), case.get("exempt", ""))
    connection = Connection(case["server"], proxy=case.get("cluster", ""), proxy_rules=rules)
    if "refused" in case:
        with pytest.raises(ProxyError, match=case["refused"]):
            choose_proxy(connection)
    else:
        assert choose_proxy(connection) == case["want"]
