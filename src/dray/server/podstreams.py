"""What is read from containers: their logs. The node agent has them; without one the answer says so."""

from typing import Final

from dray.api.core.kinds import NODE, POD
from dray.api.core.pod import Pod
from dray.errors import ApiError, BadRequest, FieldError, Invalid, NotFound, ObjectRef, invalid
from dray.server.desk import Desk, missing
from dray.server.endpoints import Target
from dray.server.http import Reply
from dray.server.options import Query
from dray.values.fieldpath import ROOT

__all__ = ["read_log", "refuse_stream"]

_NO_AGENT: Final = "no preferred addresses found; known addresses: []"
"""What the API server says where it knows no address of a node."""
_NOT_NEGATIVE: Final = ("tailLines", "limitBytes")


def read_log(desk: Desk, target: Target, query: Query) -> Reply:
    """The log of a container. Empty, with 204, for a pod that is on no node."""
    faults = _check_options(query)
    if faults:
        raise Invalid(ObjectRef(kind="PodLogOptions", name=target.name), faults)
    _, pod = desk.find(target._replace(subresource=""))
    assert isinstance(pod, Pod)
    _choose_container(pod, next(iter(query.get("container", ())), ""))
    if not pod.spec.node_name:
        return Reply(204, b"", "text/plain")
    raise _explain_node(desk, pod)


def _check_options(query: Query) -> list[FieldError]:
    faults: list[FieldError] = []
    for name in _NOT_NEGATIVE:
        for text in query.get(name, ())[:1]:
            try:
                number = int(text)
            except ValueError as fault:
                raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax') from fault
            if number < (1 if name == "limitBytes" else 0):
                bound = "must be greater than 0" if name == "limitBytes" else "must be greater than or equal to 0"
                faults.append(invalid(ROOT / name, number, bound))
    return faults


def _choose_container(pod: Pod, name: str) -> str:
    spec = pod.spec
    names = [each.name for each in (*spec.containers, *spec.init_containers)]
    names += [each.name for each in spec.ephemeral_containers]
    if not name:
        if len(spec.containers) == 1 and len(names) == 1:
            return names[0]
        if pod.metadata.annotations.get("kubectl.kubernetes.io/default-container") in names:
            return pod.metadata.annotations["kubectl.kubernetes.io/default-container"]
        listed = " ".join(each.name for each in spec.containers)
        text = f"a container name must be specified for pod {pod.metadata.name}, choose one of: [{listed}]"
        raise BadRequest(text)
    if name not in names:
        raise BadRequest(f"container {name} is not valid for pod {pod.metadata.name}")
    return name


def _explain_node(desk: Desk, pod: Pod) -> ApiError:
    node = desk.view.find(NODE, "", pod.spec.node_name)
    if node is None:
        about = desk.routes.find_endpoint(NODE).ref("", pod.spec.node_name)
        return NotFound(f'nodes "{pod.spec.node_name}" not found', about)
    return ApiError(_NO_AGENT)


def refuse_stream(desk: Desk, target: Target) -> ApiError:
    """Why nothing can be run in a container, or reached behind an object."""
    record = desk.view.record(target.key)
    if record is None:
        return missing(target)
    if target.endpoint.kind is not POD:
        return ApiError(_NO_AGENT)
    pod = desk.view.decode(target.endpoint.form, record)
    if not pod.spec.node_name:
        return BadRequest(f"pod {pod.metadata.name} does not have a host assigned")
    return _explain_node(desk, pod)
