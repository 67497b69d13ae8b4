"""Probes, and hooks at the start and end of containers."""

import re
from collections.abc import Iterator

from dray.api.core.checks.naming import choice_faults, range_faults
from dray.api.core.containers import Container
from dray.api.core.probes import HTTPGetAction, Lifecycle, LifecycleHandler, Probe
from dray.api.core.signals import SIGNALS
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import FieldPath
from dray.values.names import port_name_faults

__all__ = ["hook_and_probe_faults", "lifecycle_faults", "port_reference_faults", "probe_faults"]

_HEADER_NAME = re.compile("[-A-Za-z0-9]+")
_HEADER_RULE = (
    "a valid HTTP header must consist of alphanumeric characters or '-' "
    "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
)
_COUNTS = ("initial_delay_seconds", "timeout_seconds", "period_seconds", "success_threshold", "failure_threshold")
_COUNT_NAMES = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def hook_and_probe_faults(container: Container, grace_period: int, path: FieldPath) -> Iterator[FieldError]:
    """Everything of a container that lasts: hooks and all three probes."""
    if container.lifecycle is not None:
        yield from lifecycle_faults(container.lifecycle, grace_period, path / "lifecycle")
    liveness, readiness, startup = container.liveness_probe, container.readiness_probe, container.startup_probe
    if liveness is not None:
        yield from probe_faults(liveness, path / "livenessProbe")
        yield from _single_success_faults(liveness, path / "livenessProbe")
    if readiness is not None:
        yield from probe_faults(readiness, path / "readinessProbe")
        if readiness.termination_grace_period_seconds is not None:
            at = path / "readinessProbe" / "terminationGracePeriodSeconds"
            yield invalid(at, readiness.termination_grace_period_seconds, "must not be set for readinessProbes")
    if startup is not None:
        yield from probe_faults(startup, path / "startupProbe")
        yield from _single_success_faults(startup, path / "startupProbe")


def _single_success_faults(probe: Probe, path: FieldPath) -> Iterator[FieldError]:
    if probe.success_threshold != 1:
        yield invalid(path / "successThreshold", probe.success_threshold, "must be 1")


def probe_faults(probe: Probe, path: FieldPath) -> Iterator[FieldError]:
    """Exactly one action, and no negative numbers."""
    yield from _handler_faults(probe, path)
    for field, name in zip(_COUNTS, _COUNT_NAMES, strict=True):
        number = getattr(probe, field)
        if number < 0:
            yield invalid(path / name, number, "must be greater than or equal to 0")
    grace_period = probe.termination_grace_period_seconds
    if grace_period is not None and grace_period <= 0:
        yield invalid(path / "terminationGracePeriodSeconds", grace_period, "must be greater than 0")


def lifecycle_faults(lifecycle: Lifecycle, grace_period: int, path: FieldPath) -> Iterator[FieldError]:
    """Exactly one action a hook; a pause has to end within the grace period."""
    for name, handler in (("postStart", lifecycle.post_start), ("preStop", lifecycle.pre_stop)):
        if handler is None:
            continue
        yield from _handler_faults(handler, path / name)
        pause = handler.sleep
        if pause is not None and not 0 <= pause.seconds <= grace_period:
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
            yield invalid(path / name / "sleep", pause.seconds, detail)
    if lifecycle.stop_signal is not None:
        yield from choice_faults(lifecycle.stop_signal, SIGNALS, path / "stopSignal")


def _handler_faults(handler: Probe | LifecycleHandler, path: FieldPath) -> Iterator[FieldError]:
    grpc = handler.grpc if isinstance(handler, Probe) else None
    pause = handler.sleep if isinstance(handler, LifecycleHandler) else None
    actions = {
        "exec": handler.exec,
        "httpGet": handler.http_get,
        "tcpSocket": handler.tcp_socket,
        "grpc": grpc,
        "sleep": pause,
    }
    given = [name for name, action in actions.items() if action is not None]
    if not given:
        yield required(path, "must specify a handler type")
        return
    at = path / given[0]
    if given[0] == "exec" and handler.exec is not None and not handler.exec.command:
        yield required(at / "command")
    elif given[0] == "httpGet" and handler.http_get is not None:
        yield from _http_get_faults(handler.http_get, at)
    elif given[0] == "tcpSocket" and handler.tcp_socket is not None:
        yield from port_reference_faults(handler.tcp_socket.port, at / "port")
    elif grpc is not None:
        yield from port_reference_faults(grpc.port, at / "port")
    for name in given[1:]:
        yield forbidden(path / name, "may not specify more than 1 handler type")


def _http_get_faults(action: HTTPGetAction, path: FieldPath) -> Iterator[FieldError]:
    if not action.path:
        yield required(path / "path")
    yield from port_reference_faults(action.port, path / "port")
    yield from choice_faults(action.scheme, ("HTTP", "HTTPS"), path / "scheme")
    for header in action.http_headers:
        if not _HEADER_NAME.fullmatch(header.name):
            yield invalid(path / "httpHeaders", header.name, _HEADER_RULE)


def port_reference_faults(port: int | str, path: FieldPath) -> Iterator[FieldError]:
    """The number or the name of a port."""
    if isinstance(port, int):
        yield from range_faults(port, 1, 65535, path)
    else:
        for detail in port_name_faults(port):
            yield invalid(path, port, detail)
