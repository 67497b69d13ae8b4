"""New nodes: nothing is placed on one before it was seen to be ready."""

from typing import Final

from msgspec.structs import replace

from dray.api.core.node import Node
from dray.api.core.taints import Taint
from dray.server.admission.request import Act, AnyRequest
from dray.server.ports import View

__all__ = ["taint_new_node"]

_NOT_READY: Final = Taint(key="node.kubernetes.io/not-ready", effect="NoSchedule")


def taint_new_node(request: AnyRequest, view: View) -> AnyRequest:
    """Taint a new node as not ready. What watches nodes takes the taint away."""
    node = request.new
    if not isinstance(node, Node) or request.act is not Act.CREATE or request.subresource:
        return request
    taints = node.spec.taints
    if any(each.key == _NOT_READY.key and each.effect == _NOT_READY.effect for each in taints):
        return request
    return request.with_new(replace(node, spec=replace(node.spec, taints=(*taints, _NOT_READY))))
