"""Node agents and the drivers beside them write what is their node's, and nothing else."""

from dray.server.admission.request import AnyRequest, refuse
from dray.server.permission.noderestriction import NodeWrite, refuse_driver_write, refuse_node_write
from dray.server.ports import View

__all__ = ["check_node_write"]


def check_node_write(request: AnyRequest, view: View) -> AnyRequest:
    """Refuse a node's write of something that is not its own."""
    write = NodeWrite(
        verb=request.act,
        group=request.kind.group,
        resource=request.kind.plural,
        subresource=request.subresource,
        namespace=request.namespace,
        name=request.name,
        new=request.new,
        old=request.old,
    )
    reason = refuse_node_write(request.user, write, view)
    if reason is None and request.authorizer is not None:
        reason = refuse_driver_write(request.user, write, request.authorizer)
    if reason is not None:
        raise refuse(request, reason)
    return request
