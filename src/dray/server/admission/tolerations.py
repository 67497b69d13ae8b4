"""How long a pod stays on a node that is lost: five minutes, unless it says otherwise."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.core.pod import Pod
from dray.api.core.taints import Toleration
from dray.server.admission.request import Act, AnyRequest
from dray.server.ports import View

__all__ = ["add_default_tolerations"]

_LOST: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_SECONDS: Final = 300


def add_default_tolerations(request: AnyRequest, view: View) -> AnyRequest:
    """Let pods tolerate taints of lost nodes for a while, after their own tolerations."""
    pod = request.new
    if not isinstance(pod, Pod) or request.subresource or request.act is Act.DELETE:
        return request
    added = tuple(
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=_SECONDS)
        for key in _LOST
        if not _is_tolerated(key, pod.spec.tolerations)
    )
    if not added:
        return request
    return request.with_new(replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, *added))))


def _is_tolerated(key: str, tolerations: Sequence[Toleration]) -> bool:
    return any(each.key in ("", key) and each.effect in ("", "NoExecute") for each in tolerations)
