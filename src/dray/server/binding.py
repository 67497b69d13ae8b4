"""Acts on pods that are posted to a subresource: `binding` puts one on a node, `eviction` deletes one if it may go."""

from typing import Any, Final

from msgspec.structs import replace

from dray.api.core.binding import Binding
from dray.api.core.kinds import BINDING, POD
from dray.api.core.pod import Pod
from dray.api.meta import ApiObject, DeleteOptions, Preconditions, Status
from dray.api.policy.eviction import Eviction
from dray.api.policy.kinds import POD_DISRUPTION_BUDGET
from dray.api.writing import PlannedWrite, get_reference, settle_namespace
from dray.errors import ApiError, BadRequest
from dray.server.admission.binding import bind_pod
from dray.server.admission.eviction import EvictionPlan, plan_eviction
from dray.server.admission.request import Act
from dray.server.changing import Change, change_stored
from dray.server.deleting import delete
from dray.server.desk import Caller, Desk, Job
from dray.server.encoding import encode_put
from dray.server.endpoints import Target, get_form
from dray.server.options import WriteQuery
from dray.store.port import PreconditionFailed, Record, Write

__all__ = ["bind", "evict"]

_CREATED: Final = Status(status="Success", code=201)


async def bind(desk: Desk, target: Target, binding: Binding, options: WriteQuery, caller: Caller) -> Status:
    """Put the pod of the path on the node that the binding names. Raises Conflict if it is on one."""
    binding = settle_namespace(BINDING, binding, target.namespace or "")
    if binding.metadata.name != target.name:
        raise BadRequest("name in URL does not match name in Binding object")
    context = desk.context(caller, desk.now())
    faults = [fault for check in BINDING.create_checks for fault in check(binding, None, context)]
    if faults:
        raise ApiError("\n".join(map(str, faults)))
    pods = target._replace(endpoint=desk.routes.find_endpoint(POD), subresource="binding")
    job = Job(pods, options, caller)
    desk.admit(desk.request(job, Act.CREATE, new=binding), caller)

    def place(record: Record, old: ApiObject) -> ApiObject:
        assert isinstance(old, Pod)
        placed = bind_pod(old, binding, desk.now())
        return replace(placed, metadata=replace(placed.metadata, resource_version=""))

    change = Change(place, "create", plan=_plan_unchecked, tracks=False, is_admitted=True)
    await change_stored(desk, pods, change, options, caller)
    return _CREATED


def _plan_unchecked(kind: Any, new: ApiObject, old: ApiObject, context: object) -> PlannedWrite[Any]:
    return PlannedWrite(get_reference(kind, new), new, ())


async def evict(desk: Desk, target: Target, eviction: Eviction, options: WriteQuery, caller: Caller) -> Status:
    """Delete the pod of the path unless a disruption budget keeps it: then TooManyRequests."""
    if eviction.metadata.name != target.name:
        raise BadRequest("name in URL does not match name in Eviction object")
    pods = target._replace(endpoint=desk.routes.find_endpoint(POD), subresource="eviction")
    desk.admit(desk.request(Job(pods, options, caller), Act.CREATE, new=eviction), caller)
    pods = pods._replace(subresource="")
    deletion = eviction.delete_options or DeleteOptions()
    if options.is_dry_run:
        deletion = replace(deletion, dry_run=("All",))
    while True:
        record, pod = desk.find(pods)
        assert isinstance(pod, Pod)
        plan = plan_eviction(pod, desk.view.list(POD_DISRUPTION_BUDGET, pod.metadata.namespace), desk.now())
        if deletion.dry_run or await _prepare(desk, record, pod, plan):
            break
    if deletion.preconditions is None:
        deletion = replace(deletion, preconditions=Preconditions(uid=pod.metadata.uid))
    await delete(desk, pods, deletion, caller)
    return _CREATED


async def _prepare(desk: Desk, record: Record, pod: Pod, plan: EvictionPlan) -> bool:
    """Write what an eviction leaves on the pod and in its budget; False if either has changed meanwhile."""
    others = tuple(each for each in pod.status.conditions if each.type != plan.condition.type)
    marked = replace(pod, status=replace(pod.status, conditions=(*others, plan.condition)))
    writes: list[Write] = [encode_put(get_form(POD), marked, record.key, record.revision)]
    if plan.budget is not None:
        form, meta = get_form(POD_DISRUPTION_BUDGET), plan.budget.metadata
        key = form.key(meta.namespace, meta.name)
        writes.append(encode_put(form, plan.budget, key, int(meta.resource_version)))
    try:
        await desk.store.commit(writes)
    except PreconditionFailed:
        return False
    return True
