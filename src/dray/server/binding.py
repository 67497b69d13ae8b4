"""Acts on pods that are posted to a subresource: `binding` puts one on a node, `eviction` deletes one if it may go."""

from typing import Any, Final

from msgspec.structs import replace

from dray.api.core.binding import Binding
from dray.api.core.kinds import BINDING, POD
from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodCondition
from dray.api.meta import ApiObject, DeleteOptions, Preconditions, Status, StatusCause
from dray.api.policy.budget import PodDisruptionBudget
from dray.api.policy.eviction import Eviction
from dray.api.policy.kinds import POD_DISRUPTION_BUDGET
from dray.api.writing import PlannedWrite, get_reference
from dray.errors import ApiError, BadRequest, Conflict, ObjectRef
from dray.server.admission.refusals import TooManyRequests
from dray.server.changing import Change, change_stored
from dray.server.deleting import delete
from dray.server.desk import Caller, Desk
from dray.server.encoding import encode_put
from dray.server.endpoints import Target, get_form
from dray.server.options import WriteQuery
from dray.store.port import PreconditionFailed, Record
from dray.values.selectors import requirement_of, selector_of
from dray.values.times import Time

__all__ = ["bind", "evict"]

_CREATED: Final = Status(status="Success", code=201)
_NOT_DISTURBED: Final = frozenset({"Succeeded", "Failed", "Pending"})
"""Phases of pods that nobody relies on: no budget protects them."""


async def bind(desk: Desk, target: Target, binding: Binding, options: WriteQuery, caller: Caller) -> Status:
    """Put the pod of the path on the node that the binding names. Raises Conflict if it is on one."""
    faults = [
        fault for check in BINDING.create_checks for fault in check(binding, None, desk.context(caller, desk.now()))
    ]
    if faults:
        raise ApiError("\n".join(map(str, faults)))
    if binding.metadata.name not in ("", target.name):
        raise BadRequest("name in URL does not match name in Binding object")
    pods = target._replace(endpoint=desk.routes.find_endpoint(POD), subresource="binding")

    def place(record: Record, old: ApiObject) -> ApiObject:
        assert isinstance(old, Pod)
        return _place(old, binding, desk.now())

    change = Change(place, "create", plan=_plan_unchecked, tracks=False)
    await change_stored(desk, pods, change, options, caller)
    return _CREATED


def _plan_unchecked(kind: Any, new: ApiObject, old: ApiObject, context: object) -> PlannedWrite[Any]:
    return PlannedWrite(get_reference(kind, new), new, ())


def _place(pod: Pod, binding: Binding, now: Time) -> Pod:
    about = ObjectRef(resource="pods/binding", namespace=pod.metadata.namespace, name=pod.metadata.name)
    name = pod.metadata.name
    uid = binding.metadata.uid
    why = ""
    if uid and uid != pod.metadata.uid:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {pod.metadata.uid}"
    elif pod.metadata.deletion_timestamp is not None:
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif pod.spec.node_name:
        why = f'pod {name} is already assigned to node "{pod.spec.node_name}"'
    elif pod.spec.scheduling_gates:
        why = f"pod {name} has non-empty .spec.schedulingGates"
    if why:
        raise Conflict(f'Operation cannot be fulfilled on pods/binding "{name}": {why}', about)
    given = binding.metadata
    meta = replace(
        pod.metadata,
        annotations={**pod.metadata.annotations, **given.annotations},
        labels={**pod.metadata.labels, **given.labels},
        resource_version="",
    )
    others = tuple(each for each in pod.status.conditions if each.type != "PodScheduled")
    scheduled = PodCondition(type="PodScheduled", status="True", last_transition_time=now)
    return replace(
        pod,
        metadata=meta,
        spec=replace(pod.spec, node_name=binding.target.name),
        status=replace(pod.status, conditions=(*others, scheduled)),
    )


async def evict(desk: Desk, target: Target, eviction: Eviction, options: WriteQuery, caller: Caller) -> Status:
    """Delete the pod of the path unless a disruption budget keeps it: then TooManyRequests."""
    if eviction.metadata.name not in ("", target.name):
        raise BadRequest("name in URL does not match name in Eviction object")
    pods = target._replace(endpoint=desk.routes.find_endpoint(POD), subresource="")
    deletion = eviction.delete_options or DeleteOptions()
    if options.is_dry_run:
        deletion = replace(deletion, dry_run=("All",))
    while True:
        _, pod = desk.find(pods)
        assert isinstance(pod, Pod)
        budget = _find_budget(desk, pod)
        if budget is None:
            break
        if await _charge(desk, budget, pod, is_dry_run=bool(deletion.dry_run)):
            break
    uid = pod.metadata.uid
    if deletion.preconditions is None:
        deletion = replace(deletion, preconditions=Preconditions(uid=uid))
    await delete(desk, pods, deletion, caller)
    return _CREATED


def _find_budget(desk: Desk, pod: Pod) -> PodDisruptionBudget | None:
    if pod.status.phase in _NOT_DISTURBED or pod.metadata.deletion_timestamp is not None:
        return None
    budgets = [
        budget for budget in desk.view.list(POD_DISRUPTION_BUDGET, pod.metadata.namespace) if _protects(budget, pod)
    ]
    if len(budgets) > 1:
        raise ApiError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    return budgets[0] if budgets else None


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    selector = budget.spec.selector
    if selector is None:
        return False
    requirements = [requirement_of(each.key, each.operator, each.values) for each in selector.match_expressions]
    return selector_of(selector.match_labels, requirements).matches(pod.metadata.labels)


async def _charge(desk: Desk, budget: PodDisruptionBudget, pod: Pod, *, is_dry_run: bool) -> bool:
    """Take one disruption from a budget; False if the budget has changed meanwhile. Raises TooManyRequests."""
    status, name = budget.status, budget.metadata.name
    if status.observed_generation < budget.metadata.generation:
        cause = f"The disruption budget {name} is still being processed by the server."
        causes = (StatusCause(reason="DisruptionBudget", message=cause),)
        text = "Cannot evict pod as it would violate the pod's disruption budget."
        raise TooManyRequests(text, causes, retry_after_seconds=10)
    if status.disruptions_allowed <= 0:
        cause = (
            f"The disruption budget {name} needs {status.desired_healthy} healthy pods and has "
            f"{status.current_healthy} currently"
        )
        causes = (StatusCause(reason="DisruptionBudget", message=cause),)
        raise TooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", causes)
    if is_dry_run:
        return True
    charged = replace(
        status,
        disruptions_allowed=status.disruptions_allowed - 1,
        disrupted_pods={**status.disrupted_pods, pod.metadata.name: desk.now()},
    )
    form, meta = get_form(POD_DISRUPTION_BUDGET), budget.metadata
    put = encode_put(form, replace(budget, status=charged), form.key(meta.namespace, name), int(meta.resource_version))
    try:
        await desk.store.commit([put])
    except PreconditionFailed:
        return False
    return True
