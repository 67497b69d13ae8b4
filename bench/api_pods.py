"""A pod with two containers and a claim, as a client sends it: reading it, strictly too, and writing it."""

import json
from collections.abc import Callable
from statistics import median
from time import perf_counter

from dray.api.codec import get_codec
from dray.api.core.kinds import POD as POD_KIND

__all__ = ["GOALS", "measure"]

GOALS = {"pod: decode": 60.0}

_CONTAINER = {
    "image": "example.com/train:1.2.3",
    "command": ["python", "-m", "train"],
    "env": [{"name": f"SETTING_{number}", "value": "x" * 20} for number in range(6)],
    "resources": {
        "requests": {"cpu": "500m", "memory": "2Gi"},
        "limits": {"cpu": "2", "memory": "4Gi"},
        "claims": [{"name": "gpu"}],
    },
    "ports": [{"containerPort": 8080, "protocol": "TCP"}],
    "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
    "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "train-0",
        "namespace": "ml",
        "uid": "8d7b1f04-58b5-4b7a-a1e5-0f2b9cf8a001",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "train", "team": "ml", "version": "3"},
    },
    "spec": {
        "containers": [{"name": name, **_CONTAINER} for name in ("main", "sidecar")],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
        "tolerations": [{"key": "example.com/reserved", "operator": "Exists", "effect": "NoSchedule"}],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
        "restartPolicy": "Never",
    },
    "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False"}]},
}


def _microseconds(act: Callable[[], object], *, rounds: int = 2_000) -> float:
    """The median of some rounds, after one to warm up."""
    act()
    times = []
    for _ in range(rounds):
        before = perf_counter()
        act()
        times.append(perf_counter() - before)
    return median(times) * 1e6


def measure() -> list[tuple[str, float, str]]:
    text = json.dumps(POD, separators=(",", ":")).encode()
    codec = get_codec(POD_KIND, "v1")
    pod = codec.decode(text)
    return [
        ("pod: decode", _microseconds(lambda: codec.decode(text)), "us"),
        ("pod: decode strictly", _microseconds(lambda: codec.decode(text, strict=True)), "us"),
        ("pod: encode", _microseconds(lambda: codec.encode(pod)), "us"),
    ]
