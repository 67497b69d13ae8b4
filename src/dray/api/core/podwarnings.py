"""What is allowed in a pod and hardly meant: told to the client, not refused."""

from collections.abc import Iterator, Sequence

from dray.api.core.containers import Container, ContainerPort
from dray.api.core.environment import EnvVar
from dray.api.core.placementwarnings import placement_warnings
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.values.fieldpath import METADATA, SPEC, FieldPath, key

__all__ = ["pod_warnings"]

_BYTE_RESOURCES = ("memory", "ephemeral-storage")
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "seccomp.security.alpha.kubernetes.io/pod": 'non-functional in v1.27+; use the "seccompProfile" field instead',
    "container.seccomp.security.alpha.kubernetes.io/": (
        'non-functional in v1.27+; use the "seccompProfile" field instead'
    ),
    "container.apparmor.security.beta.kubernetes.io/": (
        'deprecated since v1.30; use the "appArmorProfile" field instead'
    ),
}
"""Annotations, or how they begin, and what is said of them."""
_OLD_VOLUMES = {
    "photon_persistent_disk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "git_repo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleio": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
"""Sources of volumes that are gone or going, by their attribute: their name, and what is said of them."""


def pod_warnings(pod: Pod) -> list[str]:
    """Texts for the client."""
    warnings = [*placement_warnings(pod.spec), *_annotation_warnings(pod), *_volume_warnings(pod.spec)]
    warnings += _repeated_names(pod.spec)
    for name, containers in (("initContainers", pod.spec.init_containers), ("containers", pod.spec.containers)):
        for index, container in enumerate(containers):
            warnings += _container_warnings(container, SPEC / name / index)
    return [*warnings, *_port_warnings(pod.spec)]


def _annotation_warnings(pod: Pod) -> Iterator[str]:
    for name in pod.metadata.annotations:
        for start, text in _OLD_ANNOTATIONS.items():
            if name == start or (start.endswith("/") and name.startswith(start)):
                yield f"{METADATA / 'annotations' / key(name)}: {text}"


def _volume_warnings(spec: PodSpec) -> Iterator[str]:
    for index, volume in enumerate(spec.volumes):
        for source, (name, text) in _OLD_VOLUMES.items():
            if getattr(volume, source) is not None:
                yield f"{SPEC / 'volumes' / index / name}: {text}"


def _repeated_names(spec: PodSpec) -> Iterator[str]:
    seen: set[str] = set()
    for index, alias in enumerate(spec.host_aliases):
        if alias.ip in seen:
            yield f'{SPEC / "hostAliases" / index / "ip"}: duplicate ip "{alias.ip}"'
        seen.add(alias.ip)
    seen = set()
    for index, secret in enumerate(spec.image_pull_secrets):
        at = SPEC / "imagePullSecrets" / index / "name"
        if not secret.name:
            yield f'{at}: invalid empty name ""'
        elif secret.name in seen:
            yield f'{at}: duplicate name "{secret.name}"'
        seen.add(secret.name)


def _port_warnings(spec: PodSpec) -> Iterator[str]:
    """Ports that are told more than once, whichever containers tell them."""
    known: dict[tuple[int, str], list[tuple[FieldPath, ContainerPort]]] = {}
    for name, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            for number, port in enumerate(container.ports):
                at = SPEC / name / index / "ports" / number
                others = known.setdefault((port.container_port, port.protocol), [])
                for other_at, other in others:
                    relation = _relate(port, other)
                    if relation:
                        yield f"{at}: {relation} port definition with {other_at}"
                others.append((at, port))


def _relate(port: ContainerPort, other: ContainerPort) -> str:
    if (port.host_ip, port.host_port) == (other.host_ip, other.host_port):
        return "duplicate"
    if not port.host_port or not other.host_port:
        return "overlapping"
    is_half_bound = bool(port.host_ip) != bool(other.host_ip)
    return "dangerously ambiguous" if port.host_port == other.host_port and is_half_bound else ""


def _container_warnings(container: Container, path: FieldPath) -> Iterator[str]:
    yield from _hidden_variables(container.env, path / "env")
    resources = container.resources
    for part, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name in _BYTE_RESOURCES:
            if name in amounts and amounts[name].milli_value() % 1000:
                at = path / "resources" / part / key(name)
                yield f'{at}: fractional byte value "{amounts[name]}" is invalid, must be an integer'


def _hidden_variables(variables: Sequence[EnvVar], path: FieldPath) -> Iterator[str]:
    """Variables that replace an earlier one of the same name, unless they build on it."""
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name = variable.name
        itself = f"$({name})"
        if name in seen and (itself not in variable.value or variable.value == itself):
            yield f'{path / index}: hides previous definition of "{name}", which may be dropped when using apply'
        seen.add(name)
