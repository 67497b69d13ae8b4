from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodStatus
from dray.api.meta import ObjectMeta
from dray.controllers.podgarbage import list_ended, list_unplaced
from dray.values.times import Time

NOW = Time(1_767_225_600)


def pod(name: str, phase: str, age: int, *, is_going: bool = False) -> Pod:
    born = NOW.plus_seconds(-age)
    meta = ObjectMeta(name=name, namespace="ml", creation_timestamp=born, deletion_timestamp=NOW if is_going else None)
    return Pod(metadata=meta, status=PodStatus(phase=phase))


PODS = [
    pod("old", "Succeeded", 30),
    pod("oldest", "Failed", 40),
    pod("going", "Failed", 50, is_going=True),
    pod("runs", "Running", 60),
    pod("new", "Succeeded", 10),
]


def names(pods: list[Pod]) -> list[str]:
    return [each.metadata.name for each in pods]


def test_of_too_many_pods_that_ended_the_oldest_go() -> None:
    assert names(list_ended(PODS, 3)) == []
    assert names(list_ended(PODS, 2)) == ["oldest"]
    assert names(list_ended(PODS, 1)) == ["oldest", "old"]
    assert names(list_ended(PODS, 0)) == ["oldest", "old", "new"]


def test_pods_that_go_and_never_had_a_node_are_nobodys() -> None:
    assert names(list_unplaced(PODS)) == ["going"]
