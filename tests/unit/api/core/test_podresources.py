"""What a pod needs altogether."""

import pytest

from dray.api.core.containers import Container
from dray.api.core.podresources import quality_of_service, sum_container_requests
from dray.api.core.podspec import PodSpec
from dray.api.core.resources import ResourceRequirements
from dray.values.quantity import Quantity, parse_quantity


def amounts(**texts: str) -> dict[str, Quantity]:
    return {name: parse_quantity(text) for name, text in texts.items()}


def container(requests: dict[str, Quantity], *, sidecar: bool = False) -> Container:
    return Container(resources=ResourceRequirements(requests=requests), restart_policy="Always" if sidecar else None)


def test_containers_add_up() -> None:
    spec = PodSpec(containers=(container(amounts(cpu="1", memory="1Gi")), container(amounts(cpu="500m"))))
    assert sum_container_requests(spec) == amounts(cpu="1500m", memory="1Gi")


def test_the_largest_init_container_counts_if_it_needs_more_than_all_the_rest() -> None:
    spec = PodSpec(
        init_containers=(container(amounts(cpu="3")), container(amounts(cpu="1", memory="4Gi"))),
        containers=(container(amounts(cpu="2", memory="1Gi")),),
    )
    assert sum_container_requests(spec) == amounts(cpu="3", memory="4Gi")


def test_a_sidecar_runs_beside_what_comes_after_it() -> None:
    spec = PodSpec(
        init_containers=(
            container(amounts(cpu="4")),
            container(amounts(cpu="1"), sidecar=True),
            container(amounts(cpu="4")),
        ),
        containers=(container(amounts(cpu="2")),),
    )
    assert sum_container_requests(spec) == amounts(cpu="5")


FULL = ResourceRequirements(limits=amounts(cpu="1", memory="1Gi"), requests=amounts(cpu="1", memory="1Gi"))
HALF = ResourceRequirements(limits=amounts(cpu="1"), requests=amounts(cpu="1"))
GPU = ResourceRequirements(limits={"example.com/gpu": parse_quantity("1")})


@pytest.mark.parametrize(
    ("parts", "whole", "want"),
    [
        ([ResourceRequirements()], None, "BestEffort"),
        ([GPU], None, "BestEffort"),
        ([ResourceRequirements(requests=amounts(cpu="0"))], None, "BestEffort"),
        ([FULL], None, "Guaranteed"),
        ([FULL, FULL], None, "Guaranteed"),
        ([FULL, ResourceRequirements()], None, "Burstable"),
        ([HALF], None, "Burstable"),
        ([ResourceRequirements(limits=FULL.limits, requests=HALF.requests)], None, "Burstable"),
        ([ResourceRequirements()], FULL, "Guaranteed"),
        ([FULL], HALF, "Burstable"),
    ],
)
def test_quality_of_service(parts: list[ResourceRequirements], whole: ResourceRequirements | None, want: str) -> None:
    spec = PodSpec(containers=tuple(Container(resources=each) for each in parts), resources=whole)
    assert quality_of_service(spec) == want
