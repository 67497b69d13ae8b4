"""What the agent counts of its drivers."""

from prometheus_client import generate_latest

from dray.driver.claims import ClaimRef
from dray.node.core.claims import ClaimPlan
from dray.node.core.prepared_claims import PreparedClaims
from dray.node.metrics import NodeMetrics


def held(*claims: tuple[str, ...]) -> PreparedClaims:
    """Claims that a pod holds, each with its drivers."""
    made = PreparedClaims()
    for number, drivers in enumerate(claims):
        ref = ClaimRef(namespace="ns", name=f"c{number}", uid=f"u{number}")
        made.reserve(ClaimPlan(ref, dict.fromkeys(drivers, ())), "pod")
    return made


def shown(metrics: NodeMetrics, name: str) -> dict[str, float]:
    lines = [line for line in generate_latest(metrics.registry).decode().splitlines() if line.startswith(f"{name}{{")]
    return {line.partition("{")[2].partition("}")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_claims_in_use_are_told_by_driver_and_in_all() -> None:
    metrics, name = NodeMetrics(), "dra_resource_claims_in_use"
    assert shown(metrics, name) == {'driver_name="<any>"': 0}
    metrics.note_claims("a", held(("x", "y"), ("x",)))
    metrics.note_claims("b", held(("x",)))
    assert shown(metrics, name) == {'driver_name="<any>"': 3, 'driver_name="x"': 3, 'driver_name="y"': 1}
    metrics.note_claims("a", held(("x",)))
    assert shown(metrics, name) == {'driver_name="<any>"': 2, 'driver_name="x"': 2}
    metrics.note_claims("a", held())
    metrics.note_claims("b", held())
    assert shown(metrics, name) == {'driver_name="<any>"': 0}
    metrics.note_claims("b", held(("y",)))
    assert shown(metrics, name) == {'driver_name="<any>"': 1, 'driver_name="y"': 1}


def test_calls_are_timed_in_the_buckets_of_a_kubelet() -> None:
    metrics = NodeMetrics()
    path = "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources"
    metrics.note_call("x", path, "OK", 0.2)
    metrics.note_operation("PrepareResources", 0.2, is_error=False)
    buckets = shown(metrics, "dra_grpc_operations_duration_seconds_bucket")
    assert len(buckets) == 16
    (count,) = shown(metrics, "dra_grpc_operations_duration_seconds_count").items()
    assert count == (f'driver_name="x",grpc_status_code="OK",method_name="{path}"', 1)
    (count,) = shown(metrics, "dra_operations_duration_seconds_count").items()
    assert count == ('is_error="false",operation_name="PrepareResources"', 1)


def test_calls_that_are_left_out_are_counted() -> None:
    metrics = NodeMetrics()
    metrics.count_skip("x", "prepare")
    metrics.count_skip("x", "prepare")
    assert shown(metrics, "dra_node_prepare_skips_total") == {'driver_name="x"': 2}
    assert shown(metrics, "dra_node_unprepare_skips_total") == {}
