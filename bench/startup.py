"""How long the command takes from nothing, in a process of its own."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: near, namespace: default}
spec:
  devices:
    requests: [{name: gpus, exactly: {deviceClassName: gpu.example.com, count: 2}}]
    constraints: [{matchAttribute: resource.kubernetes.io/numaNode}]
"""
ROUNDS = 5
READY = "start: dray up, two nodes ready"
AGAIN = "start: dray up, the same once more"
GOALS = {READY: 1500, AGAIN: 1500}


def _milliseconds(*arguments: str) -> float:
    """The best of a few runs; what a verb says is no concern here."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "dray", *arguments], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - begin)
    return best * 1000


def _milliseconds_to_ready() -> tuple[float, float]:
    """From nothing to a cluster whose nodes are ready, with new data and with data from before; the best of a few."""
    first = again = float("inf")
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            first = min(first, _time_up(folder))
            again = min(again, _time_up(folder))
    return first * 1000, again * 1000


def _time_up(folder: str) -> float:
    begin = time.perf_counter()
    words = ["up", "--data-dir", folder, "--port", "0"]
    with subprocess.Popen([sys.executable, "-m", "dray", *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        is_ready = any("nodes are ready" in line for line in process.stdout)
        seconds = time.perf_counter() - begin
        process.terminate()
    assert is_ready
    return seconds


def measure() -> list[tuple[str, float, str]]:
    first, again = _milliseconds_to_ready()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "claim.yaml")
        file.write_text(CLAIM)
        check = _milliseconds("check", "-f", str(file))
    return [
        ("start: dray version", _milliseconds("version"), "ms"),
        ("start: dray check, one claim", check, "ms"),
        (READY, first, "ms"),
        (AGAIN, again, "ms"),
    ]
