"""Annotations of nodes, by which people and simulated drivers tell each other how devices fare."""

import json
from collections.abc import Mapping

from dray.api.core.kinds import NODE
from dray.client.port import Client, ObjectName, Patch, PatchType

__all__ = ["annotate_node"]


async def annotate_node(client: Client, node: str, annotations: Mapping[str, str | None]) -> None:
    """Set annotations, or take away those without a text; all others stay. Raises ApiError, Unreachable."""
    body = json.dumps({"metadata": {"annotations": dict(annotations)}}).encode()
    await client.patch(NODE, ObjectName(node), Patch(PatchType.MERGE, body))
