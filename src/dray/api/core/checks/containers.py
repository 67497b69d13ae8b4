"""Regular, init and ephemeral containers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from dray.api.core.checks.environment import environment_faults, environment_source_faults
from dray.api.core.checks.mounts import device_faults, mount_faults
from dray.api.core.checks.naming import choice_faults, range_faults, required_choice_faults, required_label_faults
from dray.api.core.checks.probes import hook_and_probe_faults
from dray.api.core.checks.resources import container_resource_faults
from dray.api.core.checks.security import container_security_faults
from dray.api.core.containers import Container, ContainerPort, ContainerRestartRule, EphemeralContainer
from dray.api.core.podresources import is_sidecar
from dray.api.core.podspec import PodSpec
from dray.api.core.volumes import Volume
from dray.errors import FieldError, duplicate, forbidden, invalid, not_found, not_supported, required
from dray.values.fieldpath import FieldPath
from dray.values.names import port_name_faults

__all__ = [
    "RESTART_POLICIES",
    "Surroundings",
    "container_faults",
    "ephemeral_container_faults",
    "image_space_faults",
    "init_container_faults",
]

RESTART_POLICIES = ("Always", "OnFailure", "Never")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")
_RESIZABLE = ("cpu", "memory")
_NOT_IN_EPHEMERAL = (
    ("lifecycle", "lifecycle"),
    ("liveness_probe", "livenessProbe"),
    ("readiness_probe", "readinessProbe"),
    ("startup_probe", "startupProbe"),
    ("ports", "ports"),
    ("resize_policy", "resizePolicy"),
    ("restart_policy", "restartPolicy"),
)
_NOT_AT_THE_START = _NOT_IN_EPHEMERAL[:4]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of the pod the containers refer to; only volumes without faults count."""

    volumes: Mapping[str, Volume]
    claim_names: AbstractSet[str]
    grace_period: int


def container_faults(spec: PodSpec, around: Surroundings, path: FieldPath) -> Iterator[FieldError]:
    """At least one regular container, and every one sound; names differ."""
    if not spec.containers:
        yield required(path, hint="add at least one container with name and image")
    names: set[str] = set()
    for index, container in enumerate(spec.containers):
        at = path / index
        yield from _common_faults(container, around, at)
        if container.name in names:
            yield duplicate(at / "name", container.name)
        names.add(container.name)
        yield from hook_and_probe_faults(container, around.grace_period, at)
        if container.restart_policy is not None:
            yield from choice_faults(container.restart_policy, RESTART_POLICIES, at / "restartPolicy")
        yield from _restart_rule_faults(container, at)
    yield from _host_port_faults(spec.containers, path)


def init_container_faults(spec: PodSpec, around: Surroundings, path: FieldPath) -> Iterator[FieldError]:
    """Init containers; hooks and probes are for those that keep running."""
    names = {container.name for container in spec.containers}
    for index, container in enumerate(spec.init_containers):
        at = path / index
        yield from _common_faults(container, around, at)
        if container.restart_policy is not None:
            yield from choice_faults(container.restart_policy, RESTART_POLICIES, at / "restartPolicy")
        yield from _restart_rule_faults(container, at)
        if container.name in names:
            yield duplicate(at / "name", container.name)
        elif container.name:
            names.add(container.name)
        yield from _host_port_faults((container,), path)
        if is_sidecar(container):
            yield from hook_and_probe_faults(container, around.grace_period, at)
            continue
        for field, name in _NOT_AT_THE_START:
            if getattr(container, field) is not None:
                detail = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(at / name, detail, hint="set restartPolicy to Always to make it a sidecar")


def ephemeral_container_faults(spec: PodSpec, around: Surroundings, path: FieldPath) -> Iterator[FieldError]:
    """Ephemeral containers: names differ from all others, and little may be set."""
    targets = {each.name for each in (*spec.containers, *spec.init_containers)}
    names = set(targets)
    for index, container in enumerate(spec.ephemeral_containers):
        at = path / index
        yield from _common_faults(container, around, at)
        if container.name in names:
            yield duplicate(at / "name", container.name)
        names.add(container.name)
        if container.target_container_name and container.target_container_name not in targets:
            yield not_found(at / "targetContainerName", container.target_container_name)
        for field, name in _NOT_IN_EPHEMERAL:
            if getattr(container, field):
                yield forbidden(at / name, "cannot be set for an Ephemeral Container")
        resources = container.resources
        if resources.limits or resources.requests or resources.claims:
            yield forbidden(at / "resources", "cannot be set for an Ephemeral Container")


def _common_faults(
    container: Container | EphemeralContainer, around: Surroundings, path: FieldPath
) -> Iterator[FieldError]:
    yield from required_label_faults(container.name, path / "name", hint="give the container a name")
    if not container.image:
        yield required(path / "image", hint="name the image to run, such as registry.example.com/app:1.2")
    policy = container.termination_message_policy
    yield from required_choice_faults(policy, _MESSAGE_POLICIES, path / "terminationMessagePolicy")
    yield from _port_faults(container.ports, path / "ports")
    yield from environment_faults(container.env, path / "env")
    yield from environment_source_faults(container.env_from, path / "envFrom")
    yield from mount_faults(container, around.volumes, path / "volumeMounts")
    yield from device_faults(container, around.volumes, path / "volumeDevices")
    yield from required_choice_faults(container.image_pull_policy, _PULL_POLICIES, path / "imagePullPolicy")
    yield from container_resource_faults(container.resources, around.claim_names, path / "resources")
    yield from _resize_faults(container, path / "resizePolicy")
    yield from container_security_faults(container.security_context, path / "securityContext")


def image_space_faults(containers: Iterable[Container], path: FieldPath) -> Iterator[FieldError]:
    """Images of pods, but not of pod templates, have no space around them."""
    for index, container in enumerate(containers):
        if container.image != container.image.strip():
            yield invalid(path / index / "image", container.image, "must not have leading or trailing whitespace")


def _port_faults(ports: Sequence[ContainerPort], path: FieldPath) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        at = path / index
        name_faults = port_name_faults(port.name) if port.name else ()
        for detail in name_faults:
            yield invalid(at / "name", port.name, detail)
        if port.name in names:
            yield duplicate(at / "name", port.name)
        if port.name and not name_faults:
            names.add(port.name)
        if not port.container_port:
            yield required(at / "containerPort")
        else:
            yield from range_faults(port.container_port, 1, 65535, at / "containerPort")
        if port.host_port:
            yield from range_faults(port.host_port, 1, 65535, at / "hostPort")
        yield from required_choice_faults(port.protocol, ("SCTP", "TCP", "UDP"), at / "protocol")


def _host_port_faults(containers: Sequence[Container], path: FieldPath) -> Iterator[FieldError]:
    """No two containers want the same port of the host."""
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.ports):
            if not port.host_port:
                continue
            which = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if which in taken:
                yield duplicate(path / index / "ports" / number / "hostPort", which)
            taken.add(which)


def _resize_faults(container: Container | EphemeralContainer, path: FieldPath) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, policy in enumerate(container.resize_policy):
        if policy.resource_name in names:
            yield duplicate(path / index, policy.resource_name)
        names.add(policy.resource_name)
        if policy.resource_name not in _RESIZABLE:
            yield not_supported(path / index, policy.resource_name, _RESIZABLE)
        yield from required_choice_faults(policy.restart_policy, _RESIZE_POLICIES, path / index)


def _restart_rule_faults(container: Container, path: FieldPath) -> Iterator[FieldError]:
    if container.restart_policy_rules and container.restart_policy is None:
        yield required(path / "restartPolicy", "must specify restartPolicy when restart rules are used")
    for index, rule in enumerate(container.restart_policy_rules):
        yield from _one_rule_faults(rule, path / "restartPolicyRules" / index)


def _one_rule_faults(rule: ContainerRestartRule, path: FieldPath) -> Iterator[FieldError]:
    yield from required_choice_faults(rule.action, ("Restart", "RestartAllContainers"), path / "action")
    if rule.exit_codes is None:
        yield required(path / "exitCodes", "must be specified")
        return
    yield from required_choice_faults(rule.exit_codes.operator, ("In", "NotIn"), path / "exitCodes" / "operator")
