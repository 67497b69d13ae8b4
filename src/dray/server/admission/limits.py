"""Limit ranges: amounts for containers that name none, and refusal of those beyond a range."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from dray.api.core.containers import Container
from dray.api.core.kinds import LIMIT_RANGE
from dray.api.core.limitrange import LimitRange, LimitRangeItem
from dray.api.core.pod import Pod
from dray.api.core.podresources import sum_pod_limits, sum_pod_requests
from dray.server.admission.request import Act, AnyRequest, refuse
from dray.server.ports import View
from dray.values.quantity import Quantity

__all__ = ["ANNOTATION", "check_limits", "fill_in_limits"]

ANNOTATION: Final = "kubernetes.io/limit-ranger"
"""Tells what was filled in."""

Amounts = Mapping[str, Quantity]
_NANOS: Final = 10**9


def fill_in_limits(request: AnyRequest, view: View) -> AnyRequest:
    """Give containers of a new pod the amounts of the namespace's ranges where they name none."""
    pod = _find_limited_pod(request)
    if pod is None:
        return request
    for limits in view.list(LIMIT_RANGE, request.namespace):
        pod = _complete_pod(pod, limits)
    return request.with_new(pod)


def check_limits(request: AnyRequest, view: View) -> None:
    """Refuse a pod that is beyond a range of the namespace. The checks of pods come first."""
    pod = _find_limited_pod(request)
    if pod is None:
        return
    for limits in view.list(LIMIT_RANGE, request.namespace):
        faults = [fault for item in limits.spec.limits for fault in _pod_faults(item, pod)]
        if faults:
            raise refuse(request, faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")


def _find_limited_pod(request: AnyRequest) -> Pod | None:
    """The pod of the request, if its amounts are new."""
    is_create = request.act is Act.CREATE and not request.subresource
    is_resize = request.act is Act.UPDATE and request.subresource == "resize"
    return request.new if isinstance(request.new, Pod) and (is_create or is_resize) else None


def _complete_pod(pod: Pod, limits: LimitRange) -> Pod:
    defaults = [item for item in limits.spec.limits if item.type == "Container"]
    default_requests = {name: amount for item in defaults for name, amount in item.default_request.items()}
    default_limits = {name: amount for item in defaults for name, amount in item.default.items()}
    told: list[str] = []

    def complete(container: Container, noun: str) -> Container:
        resources = container.resources
        for part, added in (
            ("request", default_requests.keys() - resources.requests.keys()),
            ("limit", default_limits.keys() - resources.limits.keys()),
        ):
            if added:
                told.append(f"{', '.join(sorted(added))} {part} for {noun} {container.name}")
        resources = replace(
            resources,
            requests={**default_requests, **resources.requests},
            limits={**default_limits, **resources.limits},
        )
        return replace(container, resources=resources)

    containers = tuple(complete(each, "container") for each in pod.spec.containers)
    init_containers = tuple(complete(each, "init container") for each in pod.spec.init_containers)
    if not told:
        return pod
    annotations = {**pod.metadata.annotations, ANNOTATION: f"LimitRanger plugin set: {'; '.join(told)}"}
    return replace(
        pod,
        metadata=replace(pod.metadata, annotations=annotations),
        spec=replace(pod.spec, containers=containers, init_containers=init_containers),
    )


def _pod_faults(item: LimitRangeItem, pod: Pod) -> Iterator[str]:
    if item.type == "Container":
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            yield from _amount_faults(item, container.resources.requests, container.resources.limits)
    elif item.type == "Pod":
        yield from _amount_faults(item, sum_pod_requests(pod.spec), sum_pod_limits(pod.spec))


def _amount_faults(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in item.min.items():
        rule = f"minimum {name} usage per {item.type} is {least}"
        yield from _min_faults(rule, least, requests.get(name), limits.get(name))
    for name, most in item.max.items():
        rule = f"maximum {name} usage per {item.type} is {most}"
        yield from _max_faults(rule, most, requests.get(name), limits.get(name))
    for name, ratio in item.max_limit_request_ratio.items():
        rule = f"{name} max limit to request ratio per {item.type} is {ratio}"
        yield from _ratio_faults(rule, ratio, requests.get(name), limits.get(name))


def _min_faults(rule: str, least: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    if request is None:
        yield f"{rule}.  No request is specified"
    elif request < least:
        yield f"{rule}, but request is {request}"
    elif limit is not None and limit < least:
        yield f"{rule}, but limit is {limit}"


def _max_faults(rule: str, most: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    if limit is None:
        yield f"{rule}.  No limit is specified"
    elif limit > most:
        yield f"{rule}, but limit is {limit}"
    elif request is not None and request > most:
        yield f"{rule}, but request is {request}"


def _ratio_faults(rule: str, ratio: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    if request is None or request.is_zero:
        yield f"{rule}, but no request is specified or request is 0"
    elif limit is None or limit.is_zero:
        yield f"{rule}, but no limit is specified or limit is 0"
    elif limit.nanos * _NANOS > ratio.nanos * request.nanos:
        yield f"{rule}, but provided ratio is {limit.nanos / request.nanos:f}"
