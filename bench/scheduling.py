"""How fast pods with claims get onto nodes: the whole way through a durable server, the core alone, and in vain.

The plain workload is that of scheduler_perf's `SchedulingWithResourceClaimTemplate`. Each row has a process of its own:
none pays for what another left in memory.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, ParamSpec, TypeVar

import uvloop

from bench._scheduling_rows import core_alone, steady_partitions, wait_in_vain
from dray.app.schedulingbench import measure_single_pods

P = ParamSpec("P")
T = TypeVar("T")

END_TO_END = ((200, 1_000), (500, 2_500), (5_000, 5_000))

GOALS = {
    "200 nodes, 1000 pods, end to end": 500.0,
    "500 nodes, 2500 pods, end to end": 500.0,
    "5000 nodes, 5000 pods, end to end": 300.0,
    "500 nodes, partitions, steady state": 400.0,
    "5000 nodes, 5000 pods, core alone": 2_000.0,
    "one pod, idle cluster, p50": 15.0,
    "one pod, idle cluster, p99": 50.0,
    "1000 pods that cannot fit, attempts a freed device": 2.0,
    "1000 pods that cannot fit, a device freed every 10 ms": 0.5,
}

REFERENCES = {
    "200 nodes, 1000 pods, end to end": 47.0,
    "500 nodes, 2500 pods, end to end": 31.0,
    "500 nodes, partitions, steady state": 30.0,
    "one pod, idle cluster, p50": 42.0,
    "one pod, idle cluster, p99": 60.0,
}
"""kube-scheduler 1.37 with kube-apiserver and etcd."""


def _end_to_end(nodes: int, pods: int) -> dict[str, Any]:
    size = ("--nodes", str(nodes), "--pods", str(pods))
    command = [sys.executable, "-m", "dray", "bench", "scheduling", *size, "-o", "json"]
    ended = subprocess.run(command, check=True, capture_output=True)
    figures: dict[str, Any] = json.loads(ended.stdout)
    return figures


def _apart(measured: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """What is measured in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(measured, *arguments, **options).result()


def _run(measured: Callable[P, Coroutine[Any, Any, T]], *arguments: P.args, **options: P.kwargs) -> T:
    return uvloop.run(measured(*arguments, **options))


def measure() -> Iterator[tuple[str, float, str]]:
    for nodes, pods in END_TO_END:
        row, figures = f"{nodes} nodes, {pods} pods, end to end", _end_to_end(nodes, pods)
        yield row, figures["pods_per_second"], "/s"
        yield f"{row}, processor a pod", figures["cpu_seconds"] / pods * 1e3, "ms"
        yield f"{row}, longest stall", figures["longest_stall_ms"], "ms"
    yield "500 nodes, partitions, steady state", _apart(_run, steady_partitions, 500, 5.0), "/s"
    yield "5000 nodes, 5000 pods, core alone", _apart(core_alone, 5_000, 5_000), "/s"
    taken = sorted(_apart(measure_single_pods, 100, 300))
    yield "one pod, idle cluster, p50", taken[len(taken) // 2] * 1e3, "ms"
    yield "one pod, idle cluster, p99", taken[int(len(taken) * 0.99)] * 1e3, "ms"
    waiting = _apart(_run, wait_in_vain, 500, 1_000, 100, 3.0)
    yield "1000 pods that cannot fit, attempts a freed device", waiting.attempts_a_device, ""
    yield "1000 pods that cannot fit, a device freed every 10 ms", waiting.cores, "cores"
