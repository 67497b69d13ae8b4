"""Nodes whose agents run apart from the API server: they answer it at an HTTPS endpoint of their own."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.app.nodes import ClusterNodes, Endpoint, NodePlan, NodeSupplies, NodeViews, share_views
from dray.app.parts import Around, Part, probe_list, read_authority
from dray.client.connection import Connection
from dray.client.informer import Informer
from dray.client.port import Client, NodeStreams, WriteOptions
from dray.client.sharing import SharedInformers
from dray.client.watching import Focus
from dray.driver.published import NarrowWatches
from dray.node.metrics import NodeMetrics
from dray.node.streamserver import make_serving_certificate, serve_streams

__all__ = ["find_own_address", "make_node_part"]


def make_node_part(
    plan: NodePlan, connection: Connection, at: tuple[str, int], announce: Callable[[Sequence[str]], None]
) -> Part:
    """The nodes of a plan. `at` is where their endpoint listens: an address of this machine, and a port or 0.

    `announce` gets the nodes' names once all of them are ready.
    """

    async def run(around: Around) -> None:
        async with asyncio.TaskGroup() as tasks:
            views = _view_alone(around, plan.nodes[0].name, tasks) if len(plan.nodes) == 1 else _view_all(around, tasks)
            supplies = NodeSupplies(
                client=around.client,
                clock=around.clock,
                entropy=around.entropy,
                log=around.log,
                views=views,
                metrics=NodeMetrics(around.metrics),
            )
            nodes = ClusterNodes(plan, supplies)

            @asynccontextmanager
            async def reach(streams: NodeStreams) -> AsyncIterator[Endpoint]:
                authority = await read_authority(connection)
                if not authority:
                    around.log.info("logs and commands are not served: the kubeconfig names no authority")
                    yield Endpoint(at[0])
                    return
                own = make_serving_certificate(plan.nodes[0].name, at[0], around.clock.now().to_time())
                async with serve_streams(streams, own, authority, at) as port:
                    yield Endpoint(at[0], port, own.certificate.decode())

            tasks.create_task(nodes.run(reach), name="nodes")
            await nodes.ready.wait()
            announce(nodes.names)

    names = [each.name for each in plan.nodes]
    seen = probe_list(POD, f"spec.nodeName={names[0]}") if len(names) == 1 else probe_list(POD)
    return Part(run, probes=[seen, lambda client: _try_register(client, names[0])])


async def _try_register(client: Client, name: str) -> None:
    await client.create(NODE, Node(metadata=ObjectMeta(name=name)), WriteOptions(is_dry_run=True))


def _view_alone(around: Around, node: str, tasks: asyncio.TaskGroup) -> NodeViews:
    """What one node has to see, and may."""
    pods = Informer(around.client, Focus(kind=POD, field_selector=f"spec.nodeName={node}"), around.pace, around.log)
    itself = Informer(around.client, Focus(kind=NODE, field_selector=f"metadata.name={node}"), around.pace, around.log)
    for informer in (pods, itself):
        tasks.create_task(informer.run(), name=f"informer of {node}")
    return NodeViews(pods=pods, nodes=itself, slices=NarrowWatches(around.client, around.pace, around.log))


def _view_all(around: Around, tasks: asyncio.TaskGroup) -> NodeViews:
    informers = SharedInformers(around.client, around.pace, around.log)
    views = share_views(informers)
    tasks.create_task(informers.run(), name="informers")
    return views


def find_own_address(server: str) -> str:
    """By which address of this machine a server is reached. Raises OSError where there is no way there."""
    url = urlsplit(server)
    addresses = socket.getaddrinfo(url.hostname, url.port or 443, type=socket.SOCK_DGRAM)
    family, kind, protocol, _, address = addresses[0]
    with socket.socket(family, kind, protocol) as way:
        way.connect(address)  # sends nothing: it only finds the way
        found: str = way.getsockname()[0]
    return found
