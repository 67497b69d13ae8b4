"""What the status of a taint rule says, in Kubernetes' words."""

from collections.abc import Iterable
from typing import NamedTuple

from dray.api.meta import Condition
from dray.api.resource.request import TaintEffect
from dray.api.resource.taintrule import DeviceTaintRule

__all__ = ["EVICTION_IN_PROGRESS", "Forecast", "Progress", "describe_rule", "find_condition"]

EVICTION_IN_PROGRESS = "EvictionInProgress"

_FINAL = (
    "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."  # for effect None
)


class Progress(NamedTuple):
    """How far the eviction for a rule is: pods that wait, the namespaces they are in, pods that went."""

    pending: int = 0
    namespaces: int = 0
    evicted: int = 0


class Forecast(NamedTuple):
    """What a rule would do if its effect was NoExecute."""

    published_devices: int
    allocated_devices: int
    pods: int
    namespaces: int


def find_condition(rule: DeviceTaintRule) -> Condition | None:
    """What the rule's status said last."""
    return next((each for each in rule.status.conditions if each.type == EVICTION_IN_PROGRESS), None)


def describe_rule(rule: DeviceTaintRule, progress: Progress, forecast: Forecast | None) -> Condition:
    """The condition of a rule, without its time. `forecast` is there for rules that only inform."""
    status, reason, message = "False", "OtherEffect", "Eviction only happens for the NoExecute effect."
    if forecast is not None:
        reason, message = "NoEffect", _tell_forecast(forecast)
    elif rule.spec.taint.effect == TaintEffect.NO_EXECUTE:
        status, reason, message = _tell_progress(progress)
    return Condition(
        type=EVICTION_IN_PROGRESS,
        status=status,
        reason=reason,
        message=message,
        observed_generation=rule.metadata.generation,
    )


def _tell_progress(progress: Progress) -> tuple[str, str, str]:
    went = ""
    if progress.evicted:
        went = f"{_count(progress.evicted, 'pod')} evicted since starting the controller."
    if progress.pending:
        needs = "needs" if progress.pending == 1 else "need"
        waiting = f"{_count(progress.pending, 'pod')} {needs} to be evicted in {_places(progress.namespaces)}."
        return "True", "PodsPendingEviction", _join((waiting, went))
    return ("False", "Completed", went) if progress.evicted else ("False", "NotStarted", "")


def _tell_forecast(forecast: Forecast) -> str:
    return _join(
        (
            f"{_count(forecast.published_devices, 'published device')} selected.",
            f"{_count(forecast.allocated_devices, 'allocated device')} selected.",
            f"{_count(forecast.pods, 'pod')} would be evicted in {_places(forecast.namespaces)} "
            "if the effect was NoExecute.",
            _FINAL,
        )
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _places(number: int) -> str:
    return "1 namespace" if number == 1 else f"{number} different namespaces"


def _join(sentences: Iterable[str]) -> str:
    return " ".join(each for each in sentences if each)
