"""Priorities: pods and groups of pods get the numbers of their class; at most one class is the default."""

from collections.abc import Iterable

from msgspec.structs import replace

from dray.api.core.pod import Pod
from dray.api.scheduling.checks import SYSTEM_CLASSES
from dray.api.scheduling.kinds import PRIORITY_CLASS
from dray.api.scheduling.podgroup import PodGroup
from dray.api.scheduling.priorityclass import PriorityClass
from dray.server.admission.request import Act, AnyRequest, refuse
from dray.server.ports import View

__all__ = ["check_default_class", "fill_in_priority", "keep_system_classes"]

_COMPUTED = "must not be provided in {} spec; priority admission controller computed"
_NO_CLASS = PriorityClass(value=0, preemption_policy="PreemptLowerPriority")


def fill_in_priority(request: AnyRequest, view: View) -> AnyRequest:
    """Copy priority and preemption policy from the class of a pod or a group, which nobody else may set."""
    new = request.new
    if not isinstance(new, Pod | PodGroup) or request.subresource:
        return request
    if request.act is Act.UPDATE:
        if isinstance(new, Pod) and isinstance(request.old, Pod):
            return request.with_new(_keep_priority(new, request.old))
        return request
    chosen = _choose_class(request, new.spec.priority_class_name, view)
    _refuse_other(request, new, chosen)
    values: dict[str, object] = {
        "priority_class_name": chosen.metadata.name,
        "priority": chosen.value,
        "preemption_policy": chosen.preemption_policy or new.spec.preemption_policy,
    }
    return request.with_new(replace(new, spec=replace(new.spec, **values)))


def _refuse_other(request: AnyRequest, new: Pod | PodGroup, chosen: PriorityClass) -> None:
    """Refuse numbers that are not those of the class."""
    spec, policy = new.spec, chosen.preemption_policy
    computed = _COMPUTED.format("pod" if isinstance(new, Pod) else "podgroup")
    if spec.priority is not None and spec.priority != chosen.value:
        given = f"the integer value of priority ({spec.priority}) {computed} {chosen.value}"
        raise refuse(request, f"{given} from the given PriorityClass name")
    if policy is not None and spec.preemption_policy not in (None, policy):
        given = f"the string value of PreemptionPolicy ({spec.preemption_policy}) {computed} {policy}"
        raise refuse(request, f"{given} from the given PriorityClass name")


def _choose_class(request: AnyRequest, name: str, view: View) -> PriorityClass:
    if not name:
        return _find_default(view.list(PRIORITY_CLASS)) or _NO_CLASS
    found = view.find(PRIORITY_CLASS, "", name)
    if found is None:
        raise refuse(request, f"no PriorityClass with name {name} was found")
    return found


def _keep_priority(new: Pod, old: Pod) -> Pod:
    """What an update leaves out stays; what it changes is for the checks to refuse."""
    spec = replace(
        new.spec,
        priority=old.spec.priority if new.spec.priority is None else new.spec.priority,
        preemption_policy=new.spec.preemption_policy or old.spec.preemption_policy,
    )
    return replace(new, spec=spec)


def _find_default(classes: Iterable[PriorityClass]) -> PriorityClass | None:
    """The default class; of several, which a race can leave, the one of the least value."""
    return min((each for each in classes if each.global_default), key=lambda each: each.value, default=None)


def keep_system_classes(request: AnyRequest, view: View) -> AnyRequest:
    """Refuse to delete a class of the system."""
    if request.kind is PRIORITY_CLASS and request.act is Act.DELETE and request.name in SYSTEM_CLASSES:
        raise refuse(request, "this is a system priority class and cannot be deleted")
    return request


def check_default_class(request: AnyRequest, view: View) -> None:
    """Refuse a second default class."""
    new = request.new
    if not isinstance(new, PriorityClass) or not new.global_default:
        return
    default = _find_default(view.list(PRIORITY_CLASS))
    if default is None or (request.act is Act.UPDATE and default.metadata.name == new.metadata.name):
        return
    name = default.metadata.name
    raise refuse(request, f"PriorityClass {name} is already marked as default. Only one default can exist")
