"""The environment and the command of a container, from its spec and what the spec refers to."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dray.api.core.configmap import ConfigMap
from dray.api.core.containers import Container, EphemeralContainer
from dray.api.core.environment import EnvFromSource, EnvVar, ResourceFieldSelector
from dray.api.core.pod import Pod
from dray.api.core.secret import Secret
from dray.errors import DrayError

__all__ = ["ConfigurationMissing", "Sources", "expand", "find_sources", "render_env"]

_REFERENCE: Final = re.compile(r"\$(\$|\(([^)]*)\))")
_SUBSCRIPT: Final = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
_NAME: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


class ConfigurationMissing(DrayError):
    """A container refers to something that is not there: it cannot be made until it is."""


class Sources(Struct, frozen=True):
    """What specs may refer to, by name; what does not exist is not in it."""

    config_maps: Mapping[str, ConfigMap] = {}
    secrets: Mapping[str, Secret] = {}


def find_sources(container: Container | EphemeralContainer) -> tuple[set[str], set[str]]:
    """The names of the config maps and of the secrets that a container's environment refers to."""
    maps = {each.config_map_ref.name for each in container.env_from if each.config_map_ref is not None}
    secrets = {each.secret_ref.name for each in container.env_from if each.secret_ref is not None}
    for variable in container.env:
        source = variable.value_from
        if source is not None and source.config_map_key_ref is not None:
            maps.add(source.config_map_key_ref.name)
        if source is not None and source.secret_key_ref is not None:
            secrets.add(source.secret_key_ref.name)
    return maps, secrets


def expand(text: str, env: Mapping[str, str]) -> str:
    """Replace `$(NAME)` by variables; `$$` is a dollar, and an unknown name stays as it is written."""

    def replace(found: re.Match[str]) -> str:
        if found[1] == "$":
            return "$"
        return env.get(found[2], found[0])

    return _REFERENCE.sub(replace, text)


def render_env(
    pod: Pod, container: Container | EphemeralContainer, sources: Sources, host_ip: str, pod_ips: Sequence[str]
) -> dict[str, str]:
    """All variables of a container, later ones over earlier ones. Raises ConfigurationMissing."""
    env: dict[str, str] = {}
    for group in container.env_from:
        env.update(_read_group(group, sources))
    fields = _Fields(pod, container, host_ip, tuple(pod_ips))
    for variable in container.env:
        value = _read_variable(variable, fields, sources, env)
        if value is not None:
            env[variable.name] = value
    return env


class _Fields(Struct, frozen=True):
    """What a container may ask of its pod."""

    pod: Pod
    container: Container | EphemeralContainer
    host_ip: str
    pod_ips: tuple[str, ...]

    def read(self, path: str) -> str:
        """The field of the pod. Raises ConfigurationMissing for one that cannot be asked for."""
        meta, spec = self.pod.metadata, self.pod.spec
        if (found := _SUBSCRIPT.fullmatch(path)) is not None:
            return (meta.labels if found[1] == "labels" else meta.annotations).get(found[2], "")
        known = {
            "metadata.name": meta.name,
            "metadata.namespace": meta.namespace,
            "metadata.uid": meta.uid,
            "spec.nodeName": spec.node_name,
            "spec.serviceAccountName": spec.service_account_name,
            "status.hostIP": self.host_ip,
            "status.hostIPs": self.host_ip,
            "status.podIP": self.pod_ips[0] if self.pod_ips else "",
            "status.podIPs": ",".join(self.pod_ips),
        }
        if path not in known:
            raise ConfigurationMissing(f"unsupported fieldPath: {path}")
        return known[path]

    def measure(self, selector: ResourceFieldSelector) -> str:
        """An amount of the container, or of the one that the selector names, in units of its divisor."""
        everything = (*self.pod.spec.init_containers, *self.pod.spec.containers)
        named = [each for each in everything if each.name == selector.container_name]
        resources = named[0].resources if named else self.container.resources
        side, _, resource = selector.resource.partition(".")
        amounts = resources.limits if side == "limits" else resources.requests
        amount = amounts.get(resource, resources.limits.get(resource))
        if amount is None:
            return "0"
        unit = selector.divisor.nanos or 10**9
        return str(-(-amount.nanos // unit))


def _read_variable(variable: EnvVar, fields: _Fields, sources: Sources, env: Mapping[str, str]) -> str | None:
    source = variable.value_from
    if source is None:
        return expand(variable.value, env)
    if source.field_ref is not None:
        return fields.read(source.field_ref.field_path)
    if source.resource_field_ref is not None:
        return fields.measure(source.resource_field_ref)
    if (key := source.config_map_key_ref) is not None:
        found = sources.config_maps.get(key.name)
        read = None if found is None else found.data.get
        return _look_up(("configmap", key.name, key.key), read, is_optional=bool(key.optional))
    if (secret_key := source.secret_key_ref) is not None:
        secret = sources.secrets.get(secret_key.name)
        name = ("secret", secret_key.name, secret_key.key)
        return _look_up(name, None if secret is None else _reader(secret), is_optional=bool(secret_key.optional))
    raise ConfigurationMissing(f"variable {variable.name} has a source that this node cannot read")


def _reader(secret: Secret) -> Callable[[str], str | None]:
    return lambda key: secret.data[key].decode(errors="replace") if key in secret.data else None


def _look_up(named: tuple[str, str, str], read: Callable[[str], str | None] | None, *, is_optional: bool) -> str | None:
    kind, name, key = named
    if read is None:
        if is_optional:
            return None
        raise ConfigurationMissing(f'{kind} "{name}" not found')
    value = read(key)
    if value is None and not is_optional:
        what = "ConfigMap" if kind == "configmap" else "Secret"
        raise ConfigurationMissing(f"couldn't find key {key} in {what} {name}")
    return value


def _read_group(group: EnvFromSource, sources: Sources) -> Iterator[tuple[str, str]]:
    found: Mapping[str, str] | None = None
    if (ref := group.config_map_ref) is not None:
        config_map = sources.config_maps.get(ref.name)
        found = None if config_map is None else config_map.data
        kind, name, is_optional = "configmap", ref.name, bool(ref.optional)
    elif (secret_ref := group.secret_ref) is not None:
        secret = sources.secrets.get(secret_ref.name)
        found = None if secret is None else {key: value.decode(errors="replace") for key, value in secret.data.items()}
        kind, name, is_optional = "secret", secret_ref.name, bool(secret_ref.optional)
    else:
        return
    if found is None and not is_optional:
        raise ConfigurationMissing(f'{kind} "{name}" not found')
    for key, value in (found or {}).items():
        if _NAME.fullmatch(group.prefix + key):
            yield group.prefix + key, value
