"""How long the allocator takes. In brackets what kube-scheduler's allocator needs for the same, on the same machine."""

import gc
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

from bench._allocator_worlds import (
    MATCH,
    NODE,
    Puzzle,
    claim,
    fleet,
    gpus,
    hard_families,
    held,
    nics,
    puzzle,
    wish,
)
from dray.allocator.allocate import allocate
from dray.allocator.feasibility import feasible_nodes
from dray.allocator.ids import ClaimUid
from dray.allocator.outcome import Allocated, BudgetExhausted

Row = tuple[str, float, str]

ONE_OF_EIGHT = "one GPU of 8 on one node [39 µs]"
ALIGNED_PAIR = "GPU and NIC on one PCIe root, 8 + 8 devices [81 µs]"
ALL_NODES = "one GPU over 500 equal nodes, all feasible nodes [9.7 ms]"
NO_NODE = "9 GPUs over 500 nodes of 8: no [279 ms]"
ONE_DECISION = "one decision over 5,000 nodes of 8 GPUs, 30 % taken"
NEW_READS = "the same, first to read another attribute"
EACH_DECISION = "10,000 decisions over them, devices taken in between, each"
FIRST_DECISION = "first decision after a start: 5,000 nodes to look at"
MEMORY = "memory for 5,000 nodes of 8 GPUs and 4 NICs"
HARD = "hard families: slowest [20 s, gave up]"
HARD_TOGETHER = "hard families: together"
HARDER = "hard families, four times the devices: slowest"

GOALS = {
    ONE_OF_EIGHT: 100,
    ALIGNED_PAIR: 250,
    ALL_NODES: 1,
    NO_NODE: 1,
    ONE_DECISION: 5,
    EACH_DECISION: 1e6 / 3000,
    MEMORY: 400,
    HARD: 50,
    HARD_TOGETHER: 1000,
    HARDER: 250,
}


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def microseconds_each(work: Callable[[], object], times: int) -> float:
    work()
    rounds = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(times):
            work()
        rounds.append((time.perf_counter() - start) / times * 1e6)
    return statistics.median(rounds)


def decide(given: Puzzle) -> None:
    cluster, claims = given
    outcome = allocate(claims, cluster, NODE, share_ids=lambda: "share")
    assert not isinstance(outcome, BudgetExhausted)


def one_node() -> Iterator[Row]:
    single = puzzle(gpus(8, lambda index: 0), [claim(0, [wish()])])
    yield ONE_OF_EIGHT, microseconds_each(lambda: decide(single), 2_000), "µs"
    pair = puzzle(
        gpus(8, lambda index: index // 2) + nics(8, lambda index: index // 2),
        [claim(0, [wish(), wish(1, "nic")], MATCH)],
    )
    yield ALIGNED_PAIR, microseconds_each(lambda: decide(pair), 2_000), "µs"


def hard() -> Iterator[Row]:
    first = {name: milliseconds(partial(decide, given)) for name, given in hard_families(1)}
    slowest = max(first, key=lambda name: first[name])
    yield HARD, first[slowest], "ms"
    yield HARD_TOGETHER, sum(first.values()), "ms"
    yield f"slowest is {slowest}", first[slowest], "ms"
    larger = {name: milliseconds(partial(decide, given)) for name, given in hard_families(4)}
    yield HARDER, max(larger.values()), "ms"
    for name, figure in larger.items():
        yield f"{name}, four times", figure, "ms"


def many_nodes() -> Iterator[Row]:
    some = fleet(500, 8)
    feasible_nodes([claim(0, [wish(2)])], some)
    yield ALL_NODES, milliseconds(lambda: list(feasible_nodes([claim(0, [wish()])], some))), "ms"
    yield NO_NODE, milliseconds(lambda: list(feasible_nodes([claim(0, [wish(9)])], some))), "ms"


def whole_cluster() -> Iterator[Row]:
    gc.collect()
    tracemalloc.start()
    cluster = fleet(5_000, 8, 4)
    feasible_nodes([claim(0, [wish()])], cluster)
    yield MEMORY, tracemalloc.get_traced_memory()[0] / 2**20, "MiB"
    tracemalloc.stop()
    cluster = fleet(5_000, 8)
    yield FIRST_DECISION, milliseconds(lambda: feasible_nodes([claim(0, [wish()])], cluster)), "ms"
    chance = random.Random(7)
    for number in range(5_000):
        name = f"node-{number:05}"
        taken = [index for index in range(8) if chance.random() < 0.3]
        if taken:
            cluster.take(*held(name, taken))
    feasible_nodes([claim(0, [wish()])], cluster)
    # As a long-lived process does once its state is built: the collector need not look through it again.
    gc.collect()
    gc.freeze()
    yield ONE_DECISION, milliseconds(lambda: list(feasible_nodes([claim(0, [wish(3)])], cluster))), "ms"
    yield NEW_READS, milliseconds(lambda: list(feasible_nodes([claim(0, [wish(2)], MATCH)], cluster))), "ms"
    decisions = 10_000

    def run() -> None:
        for number in range(decisions):
            asked = [claim(number, [wish()])]
            node = feasible_nodes(asked, cluster).first()
            assert node is not None
            outcome = allocate(asked, cluster, node, share_ids=lambda: "share")
            assert isinstance(outcome, Allocated)
            cluster.take(ClaimUid(f"decided-{number}"), outcome.allocations[0])

    yield EACH_DECISION, milliseconds(run) * 1e3 / decisions, "µs"
    gc.unfreeze()


def measure() -> list[Row]:
    return [*one_node(), *hard(), *many_nodes(), *whole_cluster()]
