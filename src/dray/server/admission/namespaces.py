"""The life of namespaces: nothing is made where there is none, or in one that is going; some never go."""

from typing import Final

from dray.api.core.kinds import NAMESPACE
from dray.errors import Forbidden, NotFound, ObjectRef
from dray.server.admission.refusals import NamespaceTerminating
from dray.server.admission.request import Act, AnyRequest, get_target
from dray.server.ports import View

__all__ = ["PERMANENT_NAMESPACES", "check_namespace"]

PERMANENT_NAMESPACES: Final = ("default", "kube-public", "kube-system")
"""Namespaces that cannot be deleted."""

_REVIEWS: Final = "authorization.k8s.io"


def check_namespace(request: AnyRequest, view: View) -> AnyRequest:
    """Raise NotFound for a namespace that is not there, Forbidden for what may not be done to or in one."""
    if request.kind is NAMESPACE:
        if request.act is Act.DELETE and request.name in PERMANENT_NAMESPACES:
            about = get_target(request)
            raise Forbidden(f'namespaces "{request.name}" is forbidden: this namespace may not be deleted', about)
        return request
    # Whoever asks what they may do in a namespace does not learn from the answer whether it is there.
    if not request.namespace or request.act is Act.DELETE or request.kind.group == _REVIEWS:
        return request
    namespace = view.find(NAMESPACE, "", request.namespace)
    if namespace is None:
        about = ObjectRef(kind="Namespace", resource="namespaces", name=request.namespace)
        raise NotFound(f'namespaces "{request.namespace}" not found', about)
    if request.act is Act.CREATE and namespace.status.phase == "Terminating":
        about = get_target(request)
        text = f"unable to create new content in namespace {request.namespace} because it is being terminated"
        raise NamespaceTerminating(f'{about.qualified_resource} "{about.name}" is forbidden: {text}', about)
    return request
