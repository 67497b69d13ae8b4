"""What the API server fills into a pod, from the pod alone.

Priority, service account tokens and limits from a LimitRange need other objects; admission adds them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from dray.api.core.containers import Container, EphemeralContainer
from dray.api.core.environment import EnvVar
from dray.api.core.pod import Pod
from dray.api.core.podresources import sum_container_requests
from dray.api.core.podspec import PodSpec
from dray.api.core.podstatus import PodIP, PodStatus
from dray.api.core.probes import GRPCAction, HTTPGetAction, LifecycleHandler, Probe
from dray.api.core.resources import ResourceRequirements
from dray.api.core.security import PodSecurityContext
from dray.api.core.volumedefaults import default_field_ref, default_volume
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = ["default_container", "default_pod", "default_pod_spec", "default_pull_policy", "default_quantities"]

AnyContainer = TypeVar("AnyContainer", Container, EphemeralContainer)

_COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DOMAIN = "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?))*"
_REFERENCE = re.compile(
    rf"(?:(?:{_DOMAIN}|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_POD_LEVEL_RESOURCES = ("cpu", "memory")


def default_pod(new: Pod, now: Time) -> Pod:
    """A pod in which everything is said that holds if nothing else is said; its account is left to admission."""
    spec = new.spec
    links = True if spec.enable_service_links is None else spec.enable_service_links
    spec = replace(spec, enable_service_links=links)
    return replace(new, spec=default_pod_spec(_default_requests(spec)), status=_settle_address(new.status))


def _settle_address(status: PodStatus) -> PodStatus:
    """An address that is said once stands in both places; where they differ, the one on its own counts."""
    first = status.pod_ips[0].ip if status.pod_ips else ""
    if status.pod_ip == first:
        return status
    if not status.pod_ip:
        return replace(status, pod_ip=first)
    return replace(status, pod_ips=(PodIP(ip=status.pod_ip),))


def default_pod_spec(spec: PodSpec) -> PodSpec:
    """The part of the defaults that pod templates get too."""
    account = spec.service_account_name or spec.service_account
    grace_period = spec.termination_grace_period_seconds
    host_network = spec.host_network
    return replace(
        spec,
        volumes=tuple(map(default_volume, spec.volumes)),
        init_containers=_default_containers(spec.init_containers, host_network=host_network),
        containers=_default_containers(spec.containers, host_network=host_network),
        ephemeral_containers=_default_containers(spec.ephemeral_containers, host_network=False),
        overhead=default_quantities(spec.overhead),
        restart_policy=spec.restart_policy or "Always",
        dns_policy=spec.dns_policy or "ClusterFirst",
        scheduler_name=spec.scheduler_name or "default-scheduler",
        termination_grace_period_seconds=30 if grace_period is None else grace_period,
        security_context=spec.security_context or PodSecurityContext(),
        service_account_name=account,
        service_account=account,
    )


def default_pull_policy(image: str) -> str:
    """`Always` for an image whose tag is, or stands for, `latest`."""
    match = _REFERENCE.fullmatch(image)
    if match is None:
        return "IfNotPresent"
    is_latest = match["tag"] == "latest" or (match["tag"] is None and match["digest"] is None)
    return "Always" if is_latest else "IfNotPresent"


def default_quantities(amounts: Mapping[str, Quantity]) -> Mapping[str, Quantity]:
    """Amounts of resources, rounded up to thousandths: none is finer."""
    if all(amount.as_exact_milli() is not None for amount in amounts.values()):
        return amounts
    return {name: Quantity.of_milli(amount.milli_value(), amount.family) for name, amount in amounts.items()}


def _default_containers(containers: Iterable[AnyContainer], *, host_network: bool) -> tuple[AnyContainer, ...]:
    return tuple(default_container(each, host_network=host_network) for each in containers)


def default_container(container: AnyContainer, *, host_network: bool = False) -> AnyContainer:
    """One container of any sort. On the network of the host, its ports are those of the host."""
    lifecycle = container.lifecycle
    if lifecycle is not None:
        lifecycle = replace(
            lifecycle,
            post_start=lifecycle.post_start and _default_handler(lifecycle.post_start),
            pre_stop=lifecycle.pre_stop and _default_handler(lifecycle.pre_stop),
        )
    return replace(
        container,
        image_pull_policy=container.image_pull_policy or default_pull_policy(container.image),
        termination_message_path=container.termination_message_path or "/dev/termination-log",
        termination_message_policy=container.termination_message_policy or "File",
        ports=tuple(
            replace(
                port,
                protocol=port.protocol or "TCP",
                host_port=port.container_port if host_network and not port.host_port else port.host_port,
            )
            for port in container.ports
        ),
        env=tuple(map(_default_variable, container.env)),
        resources=_default_resources(container.resources),
        lifecycle=lifecycle,
        liveness_probe=container.liveness_probe and _default_probe(container.liveness_probe),
        readiness_probe=container.readiness_probe and _default_probe(container.readiness_probe),
        startup_probe=container.startup_probe and _default_probe(container.startup_probe),
    )


def _default_resources(resources: ResourceRequirements) -> ResourceRequirements:
    if not resources.limits and not resources.requests:
        return resources
    return replace(
        resources, limits=default_quantities(resources.limits), requests=default_quantities(resources.requests)
    )


def _default_variable(variable: EnvVar) -> EnvVar:
    source = variable.value_from
    if source is None or source.field_ref is None:
        return variable
    return replace(variable, value_from=replace(source, field_ref=default_field_ref(source.field_ref)))


def _default_handler(handler: LifecycleHandler) -> LifecycleHandler:
    return replace(handler, http_get=handler.http_get and _default_http_get(handler.http_get))


def _default_http_get(action: HTTPGetAction) -> HTTPGetAction:
    return replace(action, path=action.path or "/", scheme=action.scheme or "HTTP")


def _default_grpc(action: GRPCAction) -> GRPCAction:
    return replace(action, service=action.service or "")


def _default_probe(probe: Probe) -> Probe:
    return replace(
        probe,
        timeout_seconds=probe.timeout_seconds or 1,
        period_seconds=probe.period_seconds or 10,
        success_threshold=probe.success_threshold or 1,
        failure_threshold=probe.failure_threshold or 3,
        http_get=probe.http_get and _default_http_get(probe.http_get),
        grpc=probe.grpc and _default_grpc(probe.grpc),
    )


def _default_requests(spec: PodSpec) -> PodSpec:
    """Requests from limits where absent: for each container, then for the pod as a whole."""
    spec = replace(
        spec,
        containers=tuple(map(_request_limits, spec.containers)),
        init_containers=tuple(map(_request_limits, spec.init_containers)),
    )
    whole = spec.resources
    if whole is None or not (whole.limits or whole.requests):
        return spec
    requests = dict(whole.requests)
    for amounts in (sum_container_requests(spec), whole.limits):
        for name, amount in amounts.items():
            if _is_pod_level(name):
                requests.setdefault(name, amount)
    return replace(spec, resources=replace(whole, requests=requests)) if requests else spec


def _is_pod_level(name: str) -> bool:
    return name in _POD_LEVEL_RESOURCES or name.startswith("hugepages-")


def _request_limits(container: Container) -> Container:
    resources = container.resources
    if resources.limits.keys() <= resources.requests.keys():
        return container
    return replace(container, resources=replace(resources, requests={**resources.limits, **resources.requests}))
