from dray.api.resource.checks.report import Report
from dray.errors import required
from dray.values.fieldpath import SPEC
from tests.cases.api.resource.world import World


def test_report_lists_declared_rules_after_the_others() -> None:
    report = Report(World({}))
    report.declare(required(SPEC / "first"))
    report.add(required(SPEC / "second"))
    assert [str(fault.path) for fault in report.faults()] == ["spec.second", "spec.first"]


def test_declared_only_shares_what_is_declared_and_forgets_the_rest() -> None:
    report = Report(World({}))
    inner = report.declared_only()
    inner.declare(required(SPEC / "kept"))
    inner.add(required(SPEC / "forgotten"))
    assert [str(fault.path) for fault in report.faults()] == ["spec.kept"]
