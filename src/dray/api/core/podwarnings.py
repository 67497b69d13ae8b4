"""What is allowed in a pod and hardly meant: told to the client, not refused."""

from collections.abc import Iterator, Sequence

from dray.api.core.containers import Container
from dray.api.core.environment import EnvVar
from dray.api.core.pod import Pod
from dray.values.fieldpath import SPEC, FieldPath, key

__all__ = ["pod_warnings"]

_BYTE_RESOURCES = ("memory", "ephemeral-storage")


def pod_warnings(pod: Pod) -> list[str]:
    """Texts for the client, in the order of the fields."""
    warnings: list[str] = []
    for name, containers in (("initContainers", pod.spec.init_containers), ("containers", pod.spec.containers)):
        for index, container in enumerate(containers):
            warnings += _container_warnings(container, SPEC / name / index)
    return warnings


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
        if name in seen and f"$({name})" not in variable.value:
            yield f'{path / index}: hides previous definition of "{name}", which may be dropped when using apply'
        seen.add(name)
