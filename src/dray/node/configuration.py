"""Config maps and secrets that a container's environment refers to, read when the container is made."""

from collections.abc import Iterable
from typing import TypeVar

from dray.api.core.containers import Container, EphemeralContainer
from dray.api.core.kinds import CONFIG_MAP, SECRET
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.client.port import Client, ObjectName, Unreachable
from dray.errors import ApiError, NotFound
from dray.node.core.environment import ConfigurationMissing, Sources, find_sources

__all__ = ["find_configuration"]

K = TypeVar("K", bound=ApiObject)

_NOTHING = Sources()


async def find_configuration(client: Client, namespace: str, container: Container | EphemeralContainer) -> Sources:
    """What of it exists. Raises ConfigurationMissing where the server does not say."""
    config_maps, secrets = find_sources(container)
    if not config_maps and not secrets:
        return _NOTHING
    return Sources(
        await _read(client, CONFIG_MAP, namespace, config_maps), await _read(client, SECRET, namespace, secrets)
    )


async def _read(client: Client, kind: Kind[K], namespace: str, names: Iterable[str]) -> dict[str, K]:
    found: dict[str, K] = {}
    for name in sorted(names):
        try:
            found[name] = await client.get(kind, ObjectName(name, namespace))
        except NotFound:
            continue
        except (ApiError, Unreachable) as fault:
            raise ConfigurationMissing(f"{kind.name} {name} cannot be read: {fault}") from fault
    return found
