"""What is kept from pod to pod never shows: after any history the fast way answers as the plain one does."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.scheduler.core.placement import Examined, Placement
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.snapshot import Snapshot
from tests.properties import plain_placement as plain
from tests.properties.placing import GPU, NODE_NAMES, Theme, namespaces, nodes, pods, services, themes

EXAMPLES = settings().max_examples
PROFILES = (Profile(), Profile(hard_pod_affinity_weight=5, weights={"PodTopologySpread": 3, "InterPodAffinity": 7}))


CHANGES = ("node", "node", "pod", "pod", "pod", "pod", "no node", "no pod", "rest", "rest")


class Twins:
    """A snapshot and the plain world, told the same."""

    def __init__(self, profile: Profile, theme: Theme) -> None:
        self.snapshot = Snapshot()
        self.world = plain.World()
        self.placement = Placement(self.snapshot, profile)
        self.profile = profile
        self.theme = theme

    def change(self, data: st.DataObject) -> None:
        match data.draw(st.sampled_from(CHANGES)):
            case "node":
                self.put_node(data)
            case "pod":
                number = data.draw(st.integers(0, 12))
                self.put_pod(data.draw(pods(number, self.theme)), data.draw(st.sampled_from(NODE_NAMES)))
            case "no node":
                name = data.draw(st.sampled_from(NODE_NAMES))
                self.snapshot.remove_node(name)
                self.world.nodes = {n: node for n, node in self.world.nodes.items() if node.metadata.name != name}
            case "no pod":
                uid = f"u{data.draw(st.integers(0, 12))}"
                self.snapshot.remove_pod(uid)
                self.world.pods.pop(uid, None)
            case _:
                self.put_rest(data)

    def put_node(self, data: st.DataObject) -> None:
        node = data.draw(nodes(data.draw(st.sampled_from(NODE_NAMES)), self.theme))
        self.snapshot.put_node(node)
        self.world.nodes[self.snapshot.names.index(node.metadata.name)] = node

    def put_pod(self, pod: Pod, node_name: str) -> None:
        placed = replace(pod, spec=replace(pod.spec, node_name=node_name))
        self.snapshot.put_pod(placed)
        self.world.pods[pod.metadata.uid] = placed

    def put_rest(self, data: st.DataObject) -> None:
        namespace, service = data.draw(namespaces), data.draw(services)
        self.snapshot.put_namespace(namespace)
        self.world.namespaces[namespace.metadata.name] = namespace.metadata.labels
        self.snapshot.put_service(service)
        others = [each for each in self.world.services if each.metadata.namespace != service.metadata.namespace]
        self.world.services = [*others, service]

    def compare(self, pod: Pod, mapped: frozenset[str]) -> None:
        examined = self.placement.examine(pod, mapped)
        want = plain.examine(self.world, pod, self.profile, mapped)
        if plain.named_nodes(pod) == set():
            assert examined.rejected is not None
            assert examined.fitting == 0
            return
        assert examined.nodes == sum(1 << number for number in want)
        assert verdicts(examined) == want
        fitting = [number for number, verdict in want.items() if verdict is None]
        assert list(bits(examined.fitting)) == sorted(fitting)
        if fitting:
            self.compare_scores(examined, pod, sorted(fitting))

    def compare_scores(self, examined: Examined, pod: Pod, fitting: list[int]) -> None:
        totals = plain.scores(self.world, pod, self.profile, fitting)
        assert self.placement.scores(examined, examined.fitting) == totals
        best = max(fitting, key=lambda number: (totals[number], -number))
        assert self.placement.best(examined, examined.fitting) == best


def verdicts(examined: Examined) -> dict[int, plain.Verdict | None]:
    found: dict[int, plain.Verdict | None] = dict.fromkeys(bits(examined.nodes))
    reasons = defaultdict[int, set[str]](set)
    for refusal in examined.refusals:
        for number in bits(refusal.nodes):
            reasons[number].add(refusal.reason)
            found[number] = (refusal.plugin, frozenset(reasons[number]), refusal.code.value)
    return found


@settings(max_examples=3 * EXAMPLES)
@given(
    data=st.data(),
    theme=themes,
    profile=st.sampled_from(PROFILES),
    mapped=st.sampled_from((frozenset(), frozenset([GPU]))),
)
def test_answers_are_those_of_the_definitions_after_any_history(
    data: st.DataObject, theme: Theme, profile: Profile, mapped: frozenset[str]
) -> None:
    twins = Twins(profile, theme)
    newcomers = [data.draw(pods(100 + number, theme)) for number in range(2)]
    for _ in range(4):
        twins.put_node(data)
    for _ in range(data.draw(st.integers(1, 6))):
        for _ in range(data.draw(st.integers(1, 6))):
            twins.change(data)
        for pod in newcomers:
            twins.compare(pod, mapped)
