"""Numbers about requests, in the text form that Prometheus reads."""

from collections.abc import Iterable
from typing import Final, NamedTuple

__all__ = ["MEDIA_TYPE", "Gauge", "RequestMetrics"]

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Gauge(NamedTuple):
    """A number that goes up and down."""

    name: str
    help: str
    value: float


class RequestMetrics:
    """How many requests of which kind were answered how."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, int], int] = {}

    def count(self, verb: str, resource: str, code: int) -> None:
        """One more."""
        key = (verb, resource, code)
        self._counts[key] = self._counts.get(key, 0) + 1

    def render(self, gauges: Iterable[Gauge] = ()) -> str:
        """Everything, as text."""
        lines = [
            "# HELP apiserver_request_total Requests by verb, resource and code.",
            "# TYPE apiserver_request_total counter",
        ]
        lines += [
            f'apiserver_request_total{{verb="{verb.upper()}",resource="{resource}",code="{code}"}} {count}'
            for (verb, resource, code), count in sorted(self._counts.items())
        ]
        for gauge in gauges:
            lines += [
                f"# HELP {gauge.name} {gauge.help}",
                f"# TYPE {gauge.name} gauge",
                f"{gauge.name} {gauge.value:g}",
            ]
        return "\n".join(lines) + "\n"
