"""What filters and scores mean, spelled out node by node and pod by pod: the measure of the fast way. Nothing is kept.

It shares no logic with the scheduler. Answers about label selectors, node by node, come from the library of values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dray.allocator.nodematch import NodeSelectorError, selects
from dray.api.core.affinity import NodeAffinity, PodAffinityTerm, TopologySpreadConstraint
from dray.api.core.node import Node
from dray.api.core.nodeselector import NodeSelector, NodeSelectorTerm
from dray.api.core.pod import Pod
from dray.api.core.service import Service
from dray.api.core.taints import Taint, Toleration
from dray.api.labelselection import selects as labels_match
from dray.api.meta import LabelSelector
from dray.scheduler.core.profile import Profile
from dray.values.quantity import Quantity

REPELLING = ("NoSchedule", "NoExecute")
UNSCHEDULABLE, UNRESOLVABLE = "Unschedulable", "UnschedulableAndUnresolvable"

Verdict = tuple[str, frozenset[str], str]
"""Plugin, reasons, code."""


@dataclass
class World:
    """Nodes by number, pods on nodes by uid, and what else there is."""

    nodes: dict[int, Node] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    services: list[Service] = field(default_factory=list)

    def on(self, node: Node) -> list[Pod]:
        return [pod for pod in self.pods.values() if pod.spec.node_name == node.metadata.name]

    def numbers(self) -> list[int]:
        return sorted(self.nodes)


# What a pod takes


def amount(name: str, quantity: Quantity) -> int:
    return quantity.milli_value() if name == "cpu" else quantity.value()


def requests(pod: Pod, guess: Mapping[str, int] | None = None) -> dict[str, int]:
    spec = pod.spec
    names = {"cpu", "memory"} | {
        name for each in (*spec.containers, *spec.init_containers) for name in each.resources.requests
    }
    total: dict[str, int] = {}
    for name in names | set(spec.overhead):

        def of(container: object, name: str = name) -> int:
            asked = container.resources.requests  # type: ignore[attr-defined]
            return amount(name, asked[name]) if name in asked else (guess or {}).get(name, 0)

        sidecars: list[int] = []
        peak = 0
        for container in spec.init_containers:
            if container.restart_policy == "Always":
                sidecars.append(of(container))
                peak = max(peak, sum(sidecars))
            else:
                peak = max(peak, sum(sidecars) + of(container))
        total[name] = max(peak, sum(sidecars) + sum(of(each) for each in spec.containers))
        if spec.resources is not None and name in spec.resources.requests:
            total[name] = amount(name, spec.resources.requests[name])
        if name in spec.overhead:
            total[name] += amount(name, spec.overhead[name])
    return total


GUESS = {"cpu": 100, "memory": 200 * 1024 * 1024}


def allocatable(node: Node, name: str) -> int:
    return amount(name, node.status.allocatable[name]) if name in node.status.allocatable else 0


def requested(world: World, node: Node, name: str, guess: Mapping[str, int] | None = None) -> int:
    return sum(requests(pod, guess).get(name, 0) for pod in world.on(node))


# Filters


def examine(
    world: World, pod: Pod, profile: Profile, mapped: frozenset[str] = frozenset()
) -> dict[int, Verdict | None]:
    """The verdict on every node."""
    named = named_nodes(pod)
    found: dict[int, Verdict | None] = {}
    for number, node in world.nodes.items():
        if named is not None and node.metadata.name not in named:
            reason = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
            found[number] = ("NodeAffinity", frozenset([reason]), UNRESOLVABLE)
        else:
            found[number] = next(filter(None, verdicts(world, pod, node, profile, mapped)), None)
    return found


def named_nodes(pod: Pod) -> set[str] | None:
    required = required_terms(pod)
    if required is None:
        return None
    names: set[str] = set()
    for term in required.node_selector_terms:
        wanted = [each.values[0] for each in term.match_fields if each.operator == "In"]
        if not wanted:
            return None
        names |= {wanted[0]} if len(set(wanted)) == 1 else set()
    return names


def required_terms(pod: Pod) -> NodeSelector | None:
    affinity = node_affinity(pod)
    return affinity.required_during_scheduling_ignored_during_execution if affinity else None


def node_affinity(pod: Pod) -> NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


def verdicts(world: World, pod: Pod, node: Node, profile: Profile, mapped: frozenset[str]) -> Iterator[Verdict | None]:
    def refuse(plugin: str, code: str, *reasons: str) -> Verdict:
        return plugin, frozenset(reasons), code

    tolerations = pod.spec.tolerations
    if pod.spec.node_name and pod.spec.node_name != node.metadata.name:
        yield refuse("NodeName", UNRESOLVABLE, "node(s) didn't match the requested node name")
    cordon = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
    if node.spec.unschedulable and not tolerated(cordon, tolerations):
        yield refuse("NodeUnschedulable", UNRESOLVABLE, "node(s) were unschedulable")
    if any(each.effect in REPELLING and not tolerated(each, tolerations) for each in node.spec.taints):
        yield refuse("TaintToleration", UNRESOLVABLE, "node(s) had untolerated taint(s)")
    added = profile.added_affinity
    if added is not None and not required_holds(added, node):
        yield refuse("NodeAffinity", UNRESOLVABLE, "node(s) didn't match scheduler-enforced node affinity")
    if not likes_node(pod, node):
        yield refuse("NodeAffinity", UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector")
    if any(collide(one, other) for one in ports(pod) for each in world.on(node) for other in ports(each)):
        yield refuse("NodePorts", UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports")
    yield room(world, pod, node, mapped)
    yield spread(world, pod, node)
    yield neighbours(world, pod, node)


def tolerated(taint: Taint, tolerations: Sequence[Toleration]) -> bool:
    return any(
        each.effect in ("", taint.effect)
        and each.key in ("", taint.key)
        and (each.operator == "Exists" or (each.operator in ("", "Equal") and each.value == taint.value))
        for each in tolerations
    )


def required_holds(affinity: NodeAffinity, node: Node) -> bool:
    required = affinity.required_during_scheduling_ignored_during_execution
    return required is None or any(term_holds(term, node) for term in required.node_selector_terms)


def term_holds(term: NodeSelectorTerm, node: Node) -> bool:
    try:
        return selects(NodeSelector(node_selector_terms=(term,)), node)
    except NodeSelectorError:
        return False


def likes_node(pod: Pod, node: Node) -> bool:
    labels = node.metadata.labels
    affinity = node_affinity(pod)
    return all(labels.get(key) == value for key, value in pod.spec.node_selector.items()) and (
        affinity is None or required_holds(affinity, node)
    )


Port = tuple[str, int, str]


def ports(pod: Pod) -> list[Port]:
    return [
        (port.protocol or "TCP", port.host_port, port.host_ip or "0.0.0.0")
        for container in pod.spec.containers
        for port in container.ports
        if port.host_port
    ]


def collide(one: Port, other: Port) -> bool:
    return one[:2] == other[:2] and (one[2] == other[2] or "0.0.0.0" in (one[2], other[2]))


def room(world: World, pod: Pod, node: Node, mapped: frozenset[str]) -> Verdict | None:
    reasons, code = [], UNSCHEDULABLE
    if len(world.on(node)) + 1 > allocatable(node, "pods"):
        reasons.append("Too many pods")
    for name, asked in requests(pod).items():
        capacity = allocatable(node, name)
        if asked == 0 or (name in mapped and capacity == 0):
            continue
        if asked > capacity - requested(world, node, name):
            reasons.append(f"Insufficient {name}")
            code = UNRESOLVABLE if asked > capacity else code
    return ("NodeResourcesFit", frozenset(reasons), code) if reasons else None


# Spreading


def counts_for_spread(constraint: TopologySpreadConstraint, pod: Pod, other: Pod) -> bool:
    selector = constraint.label_selector
    if selector is None or selector == LabelSelector() or other.metadata.deletion_timestamp is not None:
        return False
    return other.metadata.namespace == pod.metadata.namespace and labels_match(selector, other.metadata.labels)


def is_counted(constraint: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    if constraint.node_affinity_policy in (None, "Honor") and not likes_node(pod, node):
        return False
    return constraint.node_taints_policy != "Honor" or not any(
        each.effect in REPELLING and not tolerated(each, pod.spec.tolerations) for each in node.spec.taints
    )


def spread(world: World, pod: Pod, node: Node) -> Verdict | None:
    constraints = [each for each in pod.spec.topology_spread_constraints if each.when_unsatisfiable == "DoNotSchedule"]
    keys = [each.topology_key for each in constraints]
    uneven = "node(s) didn't match pod topology spread constraints"
    for constraint in constraints:
        value = node.metadata.labels.get(constraint.topology_key)
        if value is None:
            return "PodTopologySpread", frozenset([f"{uneven} (missing required label)"]), UNRESOLVABLE
        totals: dict[str, int] = {}
        for other in world.nodes.values():
            labels = other.metadata.labels
            if all(key in labels for key in keys) and is_counted(constraint, pod, other):
                place = labels[constraint.topology_key]
                count = sum(counts_for_spread(constraint, pod, each) for each in world.on(other))
                totals[place] = totals.get(place, 0) + count
        least = min(totals.values(), default=2**31)
        if len(totals) < (constraint.min_domains or 1):
            least = 0
        itself = labels_match(constraint.label_selector, pod.metadata.labels)
        if totals.get(value, 0) + itself - least > constraint.max_skew:
            return "PodTopologySpread", frozenset([uneven]), UNSCHEDULABLE
    return None


# Pods beside each other


def meant(world: World, owner: Pod, term: PodAffinityTerm, other: Pod) -> bool:
    """Whether a term of `owner` is about `other`."""
    if not labels_match(term.label_selector, other.metadata.labels):
        return False
    namespace = other.metadata.namespace
    if not term.namespaces and term.namespace_selector is None:
        return namespace == owner.metadata.namespace
    return namespace in term.namespaces or labels_match(term.namespace_selector, world.namespaces.get(namespace, {}))


def required_near(pod: Pod) -> Sequence[PodAffinityTerm]:
    near = pod.spec.affinity.pod_affinity if pod.spec.affinity else None
    return near.required_during_scheduling_ignored_during_execution if near else ()


def required_away(pod: Pod) -> Sequence[PodAffinityTerm]:
    away = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
    return away.required_during_scheduling_ignored_during_execution if away else ()


def preferred(pod: Pod) -> Iterator[tuple[int, PodAffinityTerm]]:
    affinity = pod.spec.affinity
    if affinity is not None and affinity.pod_affinity is not None:
        for each in affinity.pod_affinity.preferred_during_scheduling_ignored_during_execution:
            yield each.weight, each.pod_affinity_term
    if affinity is not None and affinity.pod_anti_affinity is not None:
        for each in affinity.pod_anti_affinity.preferred_during_scheduling_ignored_during_execution:
            yield -each.weight, each.pod_affinity_term


def together(key: str, one: Node, other: Node) -> bool:
    labels, others = one.metadata.labels, other.metadata.labels
    return key in labels and key in others and labels[key] == others[key]


def placed(world: World) -> list[tuple[Node, Pod]]:
    return [(node, pod) for node in world.nodes.values() for pod in world.on(node)]


def neighbours(world: World, pod: Pod, node: Node) -> Verdict | None:
    near = required_near(pod)
    if near and not stands_near(world, pod, node, near):
        return "InterPodAffinity", frozenset(["node(s) didn't match pod affinity rules"]), UNRESOLVABLE
    everyone = placed(world)
    for term in required_away(pod):
        if any(meant(world, pod, term, other) and together(term.topology_key, node, at) for at, other in everyone):
            return "InterPodAffinity", frozenset(["node(s) didn't match pod anti-affinity rules"]), UNSCHEDULABLE
    for at, other in everyone:
        for term in required_away(other):
            if meant(world, other, term, pod) and together(term.topology_key, node, at):
                reason = "node(s) didn't satisfy existing pods anti-affinity rules"
                return "InterPodAffinity", frozenset([reason]), UNSCHEDULABLE
    return None


def stands_near(world: World, pod: Pod, node: Node, near: Sequence[PodAffinityTerm]) -> bool:
    if any(term.topology_key not in node.metadata.labels for term in near):
        return False
    friends = [(at, other) for at, other in placed(world) if all(meant(world, pod, each, other) for each in near)]
    somewhere = any(term.topology_key in at.metadata.labels for at, _ in friends for term in near)
    if not somewhere:
        return all(meant(world, pod, each, pod) for each in near)
    return all(any(together(term.topology_key, node, at) for at, _ in friends) for term in near)


# Scores


def scores(world: World, pod: Pod, profile: Profile, numbers: Sequence[int]) -> dict[int, int]:
    """The totals of some nodes that fit."""
    parts = {
        "TaintToleration": taint_score(world, pod, numbers),
        "NodeAffinity": affinity_score(world, pod, profile, numbers),
        "NodeResourcesFit": {number: fit_score(world, pod, world.nodes[number], profile) for number in numbers},
        "NodeResourcesBalancedAllocation": {
            number: balance_score(world, pod, world.nodes[number], profile) for number in numbers
        },
        "PodTopologySpread": spread_score(world, pod, profile, numbers),
        "InterPodAffinity": neighbour_score(world, pod, profile, numbers),
        "ImageLocality": {number: image_score(world, pod, world.nodes[number]) for number in numbers},
    }
    return {
        number: sum(profile.weight(plugin) * points[number] for plugin, points in parts.items()) for number in numbers
    }


def taint_score(world: World, pod: Pod, numbers: Sequence[int]) -> dict[int, int]:
    tolerations = [each for each in pod.spec.tolerations if each.effect in ("", "PreferNoSchedule")]
    raw = {
        number: sum(
            each.effect == "PreferNoSchedule" and not tolerated(each, tolerations)
            for each in world.nodes[number].spec.taints
        )
        for number in numbers
    }
    most = max(raw.values())
    return {number: 100 - 100 * count // most if most else 100 for number, count in raw.items()}


def affinity_score(world: World, pod: Pod, profile: Profile, numbers: Sequence[int]) -> dict[int, int]:
    affinities = [each for each in (node_affinity(pod), profile.added_affinity) if each is not None]
    wishes = [each for one in affinities for each in one.preferred_during_scheduling_ignored_during_execution]
    raw = {
        number: sum(each.weight for each in wishes if term_holds(each.preference, world.nodes[number]))
        for number in numbers
    }
    most = max(raw.values())
    return {number: 100 * weight // most if most else 0 for number, weight in raw.items()}


def fit_score(world: World, pod: Pod, node: Node, profile: Profile) -> int:
    total = weights = 0
    for name, weight in profile.fit_score.resources:
        asked = requests(pod, GUESS).get(name, 0)
        capacity = allocatable(node, name)
        if capacity == 0 or (asked == 0 and name not in ("cpu", "memory", "ephemeral-storage")):
            continue
        taken = requested(world, node, name, GUESS) + asked
        if profile.fit_score.strategy == "MostAllocated":
            points = 100 * min(taken, capacity) // capacity
        else:
            points = 100 * (capacity - taken) // capacity if taken <= capacity else 0
        total += weight * points
        weights += weight
    return total // weights if weights else 0


def balance_score(world: World, pod: Pod, node: Node, profile: Profile) -> int:
    asked = requests(pod)
    if not any(asked.get(name, 0) for name in profile.balanced_resources):
        return 0
    before, after = [], []
    for name in profile.balanced_resources:
        capacity = allocatable(node, name)
        if capacity == 0 or (asked.get(name, 0) == 0 and name not in ("cpu", "memory", "ephemeral-storage")):
            continue
        taken = requested(world, node, name)
        before.append(min(1.0, taken / capacity))
        after.append(min(1.0, (taken + asked.get(name, 0)) / capacity))
    return 50 + (50 + evenness(after) - evenness(before)) // 2


def evenness(shares: Sequence[float]) -> int:
    if len(shares) == 2:
        return int((1 - abs((shares[0] - shares[1]) / 2)) * 100)
    mean = sum(shares) / len(shares) if shares else 0.0
    deviation = math.sqrt(sum((each - mean) * (each - mean) for each in shares) / len(shares)) if shares else 0.0
    return int((1 - deviation) * 100)


def constraints_wished(world: World, pod: Pod, profile: Profile) -> list[TopologySpreadConstraint]:
    own = pod.spec.topology_spread_constraints
    if own:
        return [each for each in own if each.when_unsatisfiable == "ScheduleAnyway"]
    labels: dict[str, str] = {}
    for service in world.services:
        selector = service.spec.selector
        is_near = service.metadata.namespace == pod.metadata.namespace
        if is_near and all(pod.metadata.labels.get(key) == value for key, value in selector.items()):
            labels.update(selector)
    if not labels or profile.default_constraints is not None:
        return []
    return [
        TopologySpreadConstraint(
            max_skew=skew,
            topology_key=key,
            when_unsatisfiable="ScheduleAnyway",
            label_selector=LabelSelector(match_labels=labels),
        )
        for skew, key in ((3, "kubernetes.io/hostname"), (5, "topology.kubernetes.io/zone"))
    ]


def spread_score(world: World, pod: Pod, profile: Profile, numbers: Sequence[int]) -> dict[int, int]:
    constraints = constraints_wished(world, pod, profile)
    zeros = dict.fromkeys(numbers, 0)
    if not constraints:
        return zeros
    needs_all = bool(pod.spec.topology_spread_constraints)

    def is_complete(node: Node) -> bool:
        return not needs_all or all(each.topology_key in node.metadata.labels for each in constraints)

    compared = [number for number in numbers if is_complete(world.nodes[number])]
    if not compared:
        return zeros
    burdens = dict.fromkeys(compared, 0.0)
    for constraint in constraints:
        key = constraint.topology_key
        is_host = key == "kubernetes.io/hostname"
        values = {world.nodes[number].metadata.labels.get(key, "") for number in compared}
        weight = math.log((len(compared) if is_host else len(values)) + 2)
        for number in compared:
            node = world.nodes[number]
            if key not in node.metadata.labels:
                continue
            others = [node] if is_host else [each for each in world.nodes.values() if together(key, node, each)]
            count = sum(
                counts_for_spread(constraint, pod, each)
                for other in others
                if is_host or (is_complete(other) and is_counted(constraint, pod, other))
                for each in world.on(other)
            )
            burdens[number] += count * weight + (constraint.max_skew - 1)
    rounded = {number: math.floor(burden + 0.5) for number, burden in burdens.items()}
    most, least = max(rounded.values()), min(rounded.values())
    return zeros | {
        number: 100 * (most + least - burden) // most if most else 100 for number, burden in rounded.items()
    }


def neighbour_score(world: World, pod: Pod, profile: Profile, numbers: Sequence[int]) -> dict[int, int]:
    wishes: list[tuple[int, str, Node]] = []
    for at, other in placed(world):
        wishes += [(weight, term.topology_key, at) for weight, term in preferred(pod) if meant(world, pod, term, other)]
        wishes += [
            (profile.hard_pod_affinity_weight, term.topology_key, at)
            for term in required_near(other)
            if meant(world, other, term, pod)
        ]
        wishes += [
            (weight, term.topology_key, at) for weight, term in preferred(other) if meant(world, other, term, pod)
        ]
    raw = {
        number: sum(weight for weight, key, at in wishes if together(key, world.nodes[number], at))
        for number in numbers
    }
    least, most = min(raw.values()), max(raw.values())
    return {
        number: int(100.0 * ((value - least) / (most - least))) if most > least else 0 for number, value in raw.items()
    }


def image_score(world: World, pod: Pod, node: Node) -> int:
    images = [each.image for each in (*pod.spec.init_containers, *pod.spec.containers)]
    images = [image if ":" in image.rsplit("/", 1)[-1] else f"{image}:latest" for image in images]
    total = 0
    for image in images:
        holders = [n for n in world.numbers() if any(image in each.names for each in world.nodes[n].status.images)]
        if any(image in each.names for each in node.status.images):
            first = world.nodes[holders[0]]
            size = next(each.size_bytes for each in first.status.images if image in each.names)
            total += int(size * (len(holders) / len(world.nodes)))
    least, most = 23 * 2**20, 1000 * 2**20 * len(images)
    return 100 * (min(max(total, least), most) - least) // (most - least)
