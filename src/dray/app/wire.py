"""Which adapter stands behind each port. No other module chooses."""

from collections.abc import Mapping
from dataclasses import dataclass

from dray.api.checks import AccessQuestion, CheckContext, ExpressionVerdict
from dray.api.registry import SERVED, Registry
from dray.api.resource.device import Device
from dray.app.sessionwire import wire_clock, wire_log
from dray.cel.judge import judge_derived_attribute, judge_selector
from dray.cel.program import Program, compile_selector, matches
from dray.effects.clock import Clock
from dray.values.times import Time

__all__ = ["CelJudge", "match_device", "wire_clock", "wire_log", "wire_offline_context", "wire_registry"]


def wire_registry() -> Registry:
    """Every kind that is served."""
    return SERVED


@dataclass(frozen=True, slots=True)
class OfflineContext:
    """Answers the questions of checks where no cluster is at hand: what only a cluster knows is in order."""

    now: Time
    verb: str = "create"
    caller_node: str | None = None

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """Compile as at admission."""
        return judge_selector(expression)

    def judge_derived_attribute(self, expression: str) -> ExpressionVerdict:
        """Compile as at admission."""
        return judge_derived_attribute(expression)

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """Labels that permit everything."""
        return {"resource.kubernetes.io/admin-access": "true"}

    def deny(self, question: AccessQuestion) -> str | None:
        """Nothing is denied."""
        return None


def wire_offline_context(clock: Clock) -> CheckContext:
    """What checks may ask when an object is checked without a cluster, at this moment."""
    return OfflineContext(clock.now().to_time())


class CelJudge:
    """Compiles expressions as at admission."""

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """See `SelectorJudge` in `dray.server.ports`."""
        return judge_selector(expression)

    def judge_derived_attribute(self, expression: str) -> ExpressionVerdict:
        """See `SelectorJudge` in `dray.server.ports`."""
        return judge_derived_attribute(expression)


def match_device(expression: str, driver: str, device: Device) -> bool | str:
    """Whether a device meets a selector; why that cannot be said where the selector is broken or fails on it."""
    program = compile_selector(expression)
    if not isinstance(program, Program):
        return program.detail
    verdict = matches(program, driver, device)
    return verdict if isinstance(verdict, bool) else verdict.message
