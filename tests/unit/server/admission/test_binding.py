import pytest

from dray.api.core.binding import Binding
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSchedulingGate, PodSpec
from dray.api.core.podstatus import PodCondition, PodStatus
from dray.api.core.references import ObjectReference
from dray.api.meta import ObjectMeta
from dray.errors import Conflict
from dray.server.admission.binding import bind_pod
from dray.values.times import Time

NOW = Time(1_767_225_600)
REASON = "Operation cannot be fulfilled on pods/binding"


def binding(**meta: object) -> Binding:
    return Binding(metadata=ObjectMeta(name="p1", **meta), target=ObjectReference(kind="Node", name="gpu-node-0"))  # type: ignore[arg-type]  # what a test gives


def pod(spec: PodSpec = PodSpec(), **meta: object) -> Pod:  # noqa: B008  # structs are frozen
    status = PodStatus(
        conditions=(
            PodCondition(type="PodScheduled", status="False", reason="Unschedulable"),
            PodCondition(type="Ready"),
        ),
        nominated_node_name="gpu-node-1",
    )
    return Pod(metadata=ObjectMeta(name="p1", uid="u", generation=2, **meta), spec=spec, status=status)  # type: ignore[arg-type]  # as above


def test_a_bound_pod_is_on_its_node_and_says_so() -> None:
    bound = bind_pod(pod(labels={"a": "b"}), binding(labels={"c": "d"}), NOW)
    assert bound.spec.node_name == "gpu-node-0"
    assert bound.metadata.labels == {"a": "b", "c": "d"}
    assert bound.metadata.generation == 2
    scheduled = PodCondition(type="PodScheduled", status="True", last_transition_time=NOW)
    assert not bound.status.nominated_node_name
    assert bound.status.conditions == (scheduled, PodCondition(type="Ready"))


@pytest.mark.parametrize(
    ("stored", "sent", "want"),
    [
        (pod(PodSpec(node_name="gpu-node-0")), binding(), 'pod p1 is already assigned to node "gpu-node-0"'),
        (
            pod(PodSpec(scheduling_gates=(PodSchedulingGate(name="g"),))),
            binding(),
            "pod p1 has non-empty .spec.schedulingGates",
        ),
        (pod(deletion_timestamp=NOW), binding(), "pod p1 is being deleted, cannot be assigned to a host"),
    ],
    ids=["bound already", "gated", "going"],
)
def test_a_pod_is_not_bound(stored: Pod, sent: Binding, want: str) -> None:
    with pytest.raises(Conflict) as refusal:
        bind_pod(stored, sent, NOW)
    assert refusal.value.message == f'{REASON} "p1": {want}'
    assert (refusal.value.about.name, refusal.value.about.resource) == ("p1", "pods/binding")


@pytest.mark.parametrize(("named", "what"), [({"uid": "v"}, "UID"), ({"resource_version": "6"}, "ResourceVersion")])
def test_a_binding_for_another_pod_of_that_name_does_not_bind(named: dict[str, str], what: str) -> None:
    with pytest.raises(Conflict) as refusal:
        bind_pod(pod(), binding(**named), NOW)
    assert f"Precondition failed: {what} in precondition: {next(iter(named.values()))}" in refusal.value.message
    assert (refusal.value.about.name, refusal.value.about.resource) == ("p1", "pods")
