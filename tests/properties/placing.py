"""Draws nodes and pods for a small cluster in which everything that can matter does."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from hypothesis import strategies as st

from dray.api.core.affinity import (
    Affinity,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from dray.api.core.containers import Container, ContainerPort
from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.core.nodespec import NodeSpec
from dray.api.core.nodestatus import ContainerImage, NodeStatus
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.resources import ResourceRequirements
from dray.api.core.service import Service
from dray.api.core.servicespec import ServiceSpec
from dray.api.core.taints import Taint, Toleration
from dray.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from dray.values.quantity import Quantity, parse_quantity
from dray.values.times import Time

__all__ = ["GPU", "NODE_NAMES", "Feature", "Theme", "namespaces", "nodes", "pods", "services", "themes"]

T = TypeVar("T")

NODE_NAMES = ("n0", "n1", "n2", "n3", "n4", "n5")
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
GPU = "example.com/gpu"
MEBIBYTE = 2**20
ROOMY = {"cpu": parse_quantity("64"), "memory": parse_quantity("64Gi"), "pods": parse_quantity("100")}


class Feature(Enum):
    """What matters in a world. If everything did, hardly a node would be left for the later filters."""

    TAINTS = "taints"
    PLACES = "labels of nodes"
    ROOM = "room and ports"
    SPREAD = "spreading"
    NEIGHBOURS = "pods near to pods"
    IMAGES = "images"


Theme = frozenset[Feature]

themes = st.sampled_from(
    (
        *(frozenset([each]) for each in Feature),
        frozenset([Feature.SPREAD]),
        frozenset([Feature.NEIGHBOURS]),
        frozenset([Feature.SPREAD, Feature.TAINTS]),
        frozenset([Feature.SPREAD, Feature.PLACES]),
        frozenset([Feature.IMAGES, Feature.ROOM]),
        frozenset(Feature),
    )
)


def seldom(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.one_of(st.none(), strategy)


def some(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    nothing: st.SearchStrategy[tuple[T, ...]] = st.just(())
    return st.one_of(nothing, st.lists(strategy, min_size=1, max_size=2).map(lambda drawn: tuple(drawn)))


def amounts(**choices: tuple[str, ...]) -> st.SearchStrategy[dict[str, Quantity]]:
    optional = {name: st.sampled_from(texts).map(parse_quantity) for name, texts in choices.items()}
    return st.fixed_dictionaries({}, optional=optional).map(
        lambda drawn: {GPU if name == "gpu" else name: amount for name, amount in drawn.items()}
    )


taints = st.builds(
    Taint,
    key=st.sampled_from(("red", "blue")),
    value=st.sampled_from(("", "1")),
    effect=st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule")),
)
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(("", "red", "blue", "node.kubernetes.io/unschedulable")),
    operator=st.sampled_from(("Exists", "Exists", "Equal", "")),
    value=st.sampled_from(("", "1")),
    effect=st.sampled_from(("", "NoSchedule", "PreferNoSchedule")),
)
images = st.builds(
    ContainerImage,
    names=st.sampled_from((("app:latest",), ("tool:1", "tool:2"))),
    size_bytes=st.sampled_from((40 * MEBIBYTE, 700 * MEBIBYTE)),
)


@st.composite
def nodes(draw: st.DrawFn, name: str, theme: Theme) -> Node:
    labels = {HOST: draw(st.sampled_from((name, name, name, "shared")))} if draw(st.integers(0, 5)) else {}
    optional = {ZONE: st.sampled_from(("a", "b")), "size": st.sampled_from("123")}
    labels |= draw(st.fixed_dictionaries({}, optional=optional))
    allocatable = ROOMY
    if Feature.ROOM in theme:
        allocatable = draw(amounts(cpu=("1", "2", "4"), memory=("1Gi", "2Gi"), gpu=("0", "2")))
        allocatable["pods"] = parse_quantity(draw(st.sampled_from(("2", "4", "9"))))
    spec = NodeSpec()
    if Feature.TAINTS in theme:
        spec = NodeSpec(unschedulable=draw(st.integers(0, 6)) == 0, taints=draw(some(taints)))
    status = NodeStatus(allocatable=allocatable, images=draw(some(images)) if Feature.IMAGES in theme else ())
    return Node(metadata=ObjectMeta(name=name, labels=labels), spec=spec, status=status)


pod_labels = st.fixed_dictionaries({}, optional={"app": st.sampled_from("xy"), "tier": st.sampled_from("12")})
selectors = st.one_of(
    st.builds(LabelSelector, match_labels=pod_labels),
    st.just(LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="NotIn", values=("x",)),))),
)
keys = st.sampled_from((HOST, ZONE, "size"))
requirements = st.one_of(
    st.builds(
        NodeSelectorRequirement,
        key=st.sampled_from((ZONE, "size")),
        operator=st.sampled_from(("In", "NotIn")),
        values=st.sampled_from((("a",), ("1", "b"))),
    ),
    st.builds(NodeSelectorRequirement, key=keys, operator=st.sampled_from(("Exists", "DoesNotExist"))),
    st.builds(
        NodeSelectorRequirement, key=st.just("size"), operator=st.sampled_from(("Gt", "Lt")), values=st.just(("2",))
    ),
)
fields = st.builds(
    NodeSelectorRequirement,
    key=st.just("metadata.name"),
    operator=st.sampled_from(("In", "In", "NotIn")),
    values=st.sampled_from(NODE_NAMES).map(lambda name: (name,)),
)
node_terms = st.builds(
    NodeSelectorTerm,
    match_expressions=st.lists(requirements, max_size=2).map(tuple),
    match_fields=some(fields),
)
node_affinities = st.builds(
    NodeAffinity,
    required_during_scheduling_ignored_during_execution=seldom(
        st.builds(NodeSelector, node_selector_terms=st.lists(node_terms, min_size=1, max_size=2).map(tuple))
    ),
    preferred_during_scheduling_ignored_during_execution=some(
        st.builds(PreferredSchedulingTerm, weight=st.integers(1, 9), preference=node_terms)
    ),
)
pod_terms = st.builds(
    PodAffinityTerm,
    label_selector=selectors,
    topology_key=keys,
    namespaces=st.sampled_from(((), (), ("left",), ("left", "right"))),
    namespace_selector=seldom(st.builds(LabelSelector, match_labels=st.sampled_from(({}, {"team": "t"})))),
)
weighted = st.builds(WeightedPodAffinityTerm, weight=st.integers(1, 9), pod_affinity_term=pod_terms)
near = st.builds(
    PodAffinity,
    required_during_scheduling_ignored_during_execution=some(pod_terms),
    preferred_during_scheduling_ignored_during_execution=some(weighted),
)
away = st.builds(
    PodAntiAffinity,
    required_during_scheduling_ignored_during_execution=some(pod_terms),
    preferred_during_scheduling_ignored_during_execution=some(weighted),
)
constraints = st.builds(
    TopologySpreadConstraint,
    max_skew=st.integers(1, 2),
    topology_key=keys,
    when_unsatisfiable=st.sampled_from(("DoNotSchedule", "ScheduleAnyway")),
    label_selector=selectors,
    min_domains=st.sampled_from((None, None, 2, 3)),
    node_affinity_policy=st.sampled_from((None, "Honor", "Ignore")),
    node_taints_policy=st.sampled_from((None, "Honor", "Ignore")),
)
requests = amounts(cpu=("0", "100m", "500m", "1"), memory=("0", "300Mi", "1Gi"), gpu=("1",))
containers = st.builds(
    Container,
    image=st.sampled_from(("app", "tool:1", "other")),
    resources=st.builds(ResourceRequirements, requests=requests),
    ports=some(
        st.builds(ContainerPort, host_port=st.sampled_from((80, 81)), host_ip=st.sampled_from(("", "10.0.0.1")))
    ),
)
init_containers = st.builds(
    Container,
    image=st.just("tool:2"),
    restart_policy=st.sampled_from(("Always", None)),
    resources=st.builds(ResourceRequirements, requests=requests),
)


@st.composite
def pods(draw: st.DrawFn, number: int, theme: Theme) -> Pod:
    leaves = draw(st.integers(0, 7)) == 0
    metadata = ObjectMeta(
        name=f"p{number}",
        uid=f"u{number}",
        namespace=draw(st.sampled_from(("left", "left", "right"))),
        labels=draw(pod_labels),
        deletion_timestamp=Time(5) if leaves else None,
    )
    room, places = Feature.ROOM in theme, Feature.PLACES in theme
    container = Container(image="app")
    spec = PodSpec(
        containers=tuple(draw(st.lists(containers, min_size=1, max_size=2))) if room else (container,),
        init_containers=draw(some(init_containers)) if room else (),
        overhead=draw(amounts(cpu=("100m",))) if room else {},
        resources=draw(seldom(st.builds(ResourceRequirements, requests=amounts(cpu=("2",))))) if room else None,
        node_selector=draw(st.sampled_from(({}, {}, {ZONE: "a"}))) if places else {},
        affinity=Affinity(
            node_affinity=draw(node_affinities) if places else None,
            pod_affinity=draw(seldom(near)) if Feature.NEIGHBOURS in theme else None,
            pod_anti_affinity=draw(seldom(away)) if Feature.NEIGHBOURS in theme else None,
        ),
        tolerations=draw(some(tolerations)) if Feature.TAINTS in theme else (),
        topology_spread_constraints=draw(some(constraints)) if Feature.SPREAD in theme else (),
        priority=draw(st.sampled_from((None, 1, 2))),
    )
    return Pod(metadata=metadata, spec=spec)


namespaces = st.builds(
    lambda name, labels: Namespace(metadata=ObjectMeta(name=name, labels=labels)),
    name=st.sampled_from(("left", "right")),
    labels=st.sampled_from(({}, {"team": "t"})),
)
services = st.builds(
    lambda namespace, selector: Service(
        metadata=ObjectMeta(namespace=namespace, name="service"), spec=ServiceSpec(selector=selector)
    ),
    namespace=st.sampled_from(("left", "right")),
    selector=st.sampled_from(({}, {"app": "x"}, {"app": "x", "tier": "1"})),
)
