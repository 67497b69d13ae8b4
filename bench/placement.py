"""How fast a pod finds the best of many nodes, devices apart, each decision being assumed before the next."""

from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter

from msgspec.structs import replace

from dray.api.core.affinity import (
    Affinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from dray.api.core.containers import Container
from dray.api.core.node import Node
from dray.api.core.nodespec import NodeSpec
from dray.api.core.nodestatus import NodeStatus
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.resources import ResourceRequirements
from dray.api.core.service import Service
from dray.api.core.servicespec import ServiceSpec
from dray.api.core.taints import Taint
from dray.api.meta import LabelSelector, ObjectMeta
from dray.scheduler.core.placement import Placement
from dray.scheduler.core.preemption import Preemption, plan_preemption
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.snapshot import Snapshot
from dray.values.quantity import parse_quantity

SIZES = (500, 5_000)
PODS = 1_000
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
APP = LabelSelector(match_labels={"app": "web"})

GOALS = {
    "500 nodes, pods of one template": 150.0,
    "5000 nodes, pods of one template": 150.0,
    "5000 nodes, node tainted and untainted between pods": 150.0,
}


def cluster(size: int, fill: int = 0) -> Snapshot:
    """Nodes in three zones, a tenth of them tainted, with pods on them."""
    snapshot = Snapshot()
    for number in range(size):
        snapshot.put_node(node(number, is_tainted=number % 10 == 0))
    for number in range(size * fill):
        placed = pod(10**6 + number, priority=0, cpu="2")
        snapshot.put_pod(replace(placed, spec=replace(placed.spec, node_name=f"node-{number % size}")))
    return snapshot


def node(number: int, *, is_tainted: bool) -> Node:
    labels = {HOST: f"node-{number}", ZONE: f"zone-{number % 3}", "rack": f"rack-{number // 40}"}
    room = {name: parse_quantity(text) for name, text in (("cpu", "32"), ("memory", "64Gi"), ("pods", "110"))}
    taints = (Taint(key="dedicated", value="others", effect="NoSchedule"),) if is_tainted else ()
    return Node(
        metadata=ObjectMeta(name=f"node-{number}", labels=labels),
        spec=NodeSpec(taints=taints),
        status=NodeStatus(allocatable=room),
    )


def pod(number: int, priority: int = 10, cpu: str = "100m") -> Pod:
    requests = {"cpu": parse_quantity(cpu), "memory": parse_quantity("128Mi")}
    return Pod(
        metadata=ObjectMeta(name=f"web-{number}", namespace="default", uid=f"uid-{number}", labels={"app": "web"}),
        spec=PodSpec(
            containers=(Container(name="c", image="web", resources=ResourceRequirements(requests=requests)),),
            priority=priority,
        ),
    )


def place_all(snapshot: Snapshot, shape: Callable[[Pod], Pod], between: Callable[[int], None] | None = None) -> float:
    """Microseconds for the median pod, from looking for a node to being assumed there."""
    placement = Placement(snapshot, Profile())
    pods = [shape(pod(number)) for number in range(PODS)]
    taken: list[float] = []
    for number, each in enumerate(pods):
        started = perf_counter()
        examined = placement.examine(each)
        best = placement.best(examined, examined.fitting)
        snapshot.put_pod(replace(each, spec=replace(each.spec, node_name=snapshot.names[best])))
        taken.append(perf_counter() - started)
        if between is not None:
            between(number)
    return median(taken) * 1e6


def plain(one: Pod) -> Pod:
    return one


def spread(one: Pod) -> Pod:
    constraints = tuple(
        TopologySpreadConstraint(max_skew=1, topology_key=key, when_unsatisfiable="DoNotSchedule", label_selector=APP)
        for key in (ZONE, HOST)
    )
    return replace(one, spec=replace(one.spec, topology_spread_constraints=constraints))


def lonely(one: Pod) -> Pod:
    term = PodAffinityTerm(label_selector=APP, topology_key=HOST)
    return with_anti_affinity(one, PodAntiAffinity(required_during_scheduling_ignored_during_execution=(term,)))


def shy(one: Pod) -> Pod:
    term = PodAffinityTerm(label_selector=APP, topology_key=HOST)
    wish = WeightedPodAffinityTerm(weight=100, pod_affinity_term=term)
    return with_anti_affinity(one, PodAntiAffinity(preferred_during_scheduling_ignored_during_execution=(wish,)))


def with_anti_affinity(one: Pod, rules: PodAntiAffinity) -> Pod:
    return replace(one, spec=replace(one.spec, affinity=Affinity(pod_anti_affinity=rules)))


def first_of_its_kind(size: int) -> float:
    """Milliseconds for a pod of a shape that was never seen, in a cluster that was."""
    snapshot = cluster(size)
    placement = Placement(snapshot, Profile())
    placement.examine(pod(0))
    started = perf_counter()
    examined = placement.examine(pod(1, cpu="200m"))
    placement.best(examined, examined.fitting)
    return (perf_counter() - started) * 1e3


def with_service(size: int) -> float:
    snapshot = cluster(size)
    metadata = ObjectMeta(name="web", namespace="default")
    snapshot.put_service(Service(metadata=metadata, spec=ServiceSpec(selector={"app": "web"})))
    return place_all(snapshot, plain)


def with_taints_coming_and_going(size: int) -> float:
    snapshot = cluster(size)
    return place_all(snapshot, plain, lambda number: snapshot.put_node(node(7, is_tainted=number % 2 == 0)))


def preempt(size: int, shape: Callable[[Pod], Pod]) -> float:
    """Milliseconds to plan what to evict in a full cluster of small pods."""
    snapshot = cluster(size, fill=16)
    placement = Placement(snapshot, Profile())
    newcomer = shape(pod(0, cpu="5"))
    examined = placement.examine(newcomer)
    started = perf_counter()
    found = plan_preemption(placement, examined, examined.preemptible)
    assert isinstance(found, Preemption)
    return (perf_counter() - started) * 1e3


def measure() -> Iterator[tuple[str, float, str]]:
    for size in SIZES:
        yield f"{size} nodes, pods of one template", place_all(cluster(size), plain), "µs/pod"
    size = SIZES[-1]
    yield f"{size} nodes, node tainted and untainted between pods", with_taints_coming_and_going(size), "µs/pod"
    yield f"{size} nodes, pods of a service, spread by default", with_service(size), "µs/pod"
    yield f"{size} nodes, pods that must spread by zone and host", place_all(cluster(size), spread), "µs/pod"
    yield f"{size} nodes, pods that must not share a host", place_all(cluster(size), lonely), "µs/pod"
    yield f"{size} nodes, pods that would rather not share a host", place_all(cluster(size), shy), "µs/pod"
    yield f"{size} nodes, first pod of a shape", first_of_its_kind(size), "ms"
    yield f"{size} full nodes, preemption for room", preempt(size, plain), "ms"
    yield f"{size} full nodes, preemption among pods that spread", preempt(size, spread), "ms"
