"""Containers of nodes whose agents run apart: `NodeStreams` over endpoints as `dray.client.nodeendpoint` has them."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.client.nodeendpoint import SERVING_CERTIFICATE, format_command_url, format_log_url
from dray.client.port import Command, ContainerAddress, Execution, LogOptions
from dray.errors import ApiError
from dray.server.identity.certificates import KeyPair
from dray.server.ports import View

if TYPE_CHECKING:
    from dray.server.noderequests import AgentEndpoint

__all__ = ["NodeRelay"]

_ADDRESS_TYPES: Final = ("InternalIP", "ExternalIP", "Hostname", "InternalDNS", "ExternalDNS")
"""The order in which addresses of a node are preferred."""


class NodeRelay:
    """Reaches every node whose status says where its agent listens.

    `identity` is the client certificate to show there; agents whose certificate the Node does not carry must have one
    of `authority`.
    """

    def __init__(self, view: View, identity: KeyPair, authority: bytes) -> None:
        self._view = view
        self._identity = identity
        self._authority = authority

    def serves(self, node: str) -> bool:
        """See `NodeStreams.serves`."""
        found = self._view.find(NODE, "", node)
        return found is not None and bool(_find_endpoint(found))

    async def open_log(self, container: ContainerAddress, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """See `NodeStreams.open_log`."""
        from dray.server.noderequests import open_remote_log  # noqa: PLC0415  # see there

        return await open_remote_log(self._find(container.node), format_log_url(container, options))

    async def start(self, container: ContainerAddress, command: Command) -> Execution:
        """See `NodeStreams.start`."""
        from dray.server.noderequests import start_remote_command  # noqa: PLC0415  # see there

        return await start_remote_command(self._find(container.node), format_command_url(container, command))

    def _find(self, name: str) -> "AgentEndpoint":
        from dray.server.noderequests import AgentEndpoint  # noqa: PLC0415  # see there

        node = self._view.find(NODE, "", name)
        url = _find_endpoint(node) if node is not None else ""
        if node is None or not url:
            raise ApiError(f"nobody knows where the agent of node {name} listens")
        certificate = node.metadata.annotations.get(SERVING_CERTIFICATE)
        return AgentEndpoint(name, url, self._identity, self._authority, certificate)


def _find_endpoint(node: Node) -> str:
    """Where the agent of a node listens, or nothing."""
    port = node.status.daemon_endpoints.kubelet_endpoint.port
    addresses = {each.type: each.address for each in reversed(node.status.addresses)}
    for each in _ADDRESS_TYPES:
        if port and addresses.get(each):
            host = addresses[each]
            return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return ""
