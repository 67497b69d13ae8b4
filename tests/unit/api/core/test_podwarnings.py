import json
from typing import Any

import pytest

from dray.api.codec import decode
from dray.api.core.kinds import POD


@pytest.mark.parametrize(
    ("container", "want"),
    [
        ({"env": [{"name": "A"}, {"name": "B"}]}, []),
        ({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A),2"}]}, []),
        (
            {"env": [{"name": "A"}, {"name": "A"}]},
            ['env[1]: hides previous definition of "A", which may be dropped when using apply'],
        ),
        ({"resources": {"limits": {"cpu": "100m", "memory": "1Gi"}}}, []),
        (
            {"resources": {"limits": {"memory": "100m"}}},
            ['resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer'],
        ),
    ],
)
def test_what_is_hardly_meant_is_told(container: dict[str, Any], want: list[str]) -> None:
    for part in ("containers", "initContainers"):
        pod = decode(POD, "v1", json.dumps({"spec": {part: [container]}}).encode())
        assert POD.warnings(pod) == [f"spec.{part}[0].{text}" for text in want]
