"""What a cluster is like at one moment, what of the expected is not true of it, and what must never be. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from dray.allocator.nodematch import selects
from dray.api.core.event import Event
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.slice import ResourceSlice
from dray.audit.cluster import audit_cluster
from dray.demo.example import WantedAlignment, WantedClaim, WantedPod, Wants

__all__ = ["Sights", "list_contradictions", "list_unmet"]

_GONE = "Gone"
_SHOWN = 12


class Sights(Struct, frozen=True):
    """Everything that can be wanted, by `namespace/name`."""

    pods: Mapping[str, Pod] = {}
    claims: Mapping[str, ResourceClaim] = {}
    slices: Sequence[ResourceSlice] = ()
    nodes: Mapping[str, Node] = {}
    events: Sequence[Event] = ()


def list_unmet(wants: Wants, sights: Sights) -> list[str]:
    """Everything that is not as wanted, each with what it is instead. Logs are not looked at."""
    checks: tuple[Callable[[Wants, Sights], Iterator[str]], ...] = (
        _judge_pods,
        _judge_claims,
        _judge_events,
        _judge_offers,
        _judge_places,
        _judge_alignment,
    )
    return [text for check in checks for text in check(wants, sights)]


def list_contradictions(sights: Sights) -> list[str]:
    """What is wrong whatever is wanted: devices given twice, pods that run without the claims or beside the devices."""
    violations = audit_cluster(list(sights.claims.values()), sights.slices, list(sights.nodes.values()))
    return [f"audit: {each}" for each in violations] + [
        f"pod {name} {text}"
        for name, pod in sights.pods.items()
        if pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None
        for text in _judge_running(pod, sights)
    ]


def _judge_running(pod: Pod, sights: Sights) -> Iterator[str]:
    node = sights.nodes.get(pod.spec.node_name)
    for name in _list_claim_names(pod):
        claim = sights.claims.get(f"{pod.metadata.namespace}/{name}")
        if claim is None or claim.status.allocation is None:
            yield f"runs without devices for claim {name}"
            continue
        users = {each.uid for each in claim.status.reserved_for if not each.api_group}
        if users and pod.metadata.uid not in users:
            yield f"runs and has no reservation of claim {name}"
        selector = claim.status.allocation.node_selector
        if node is not None and selector is not None and not selects(selector, node):
            yield f"runs on {node.metadata.name}, where claim {name} cannot be used"


def _list_claim_names(pod: Pod) -> list[str]:
    names = [each.resource_claim_name for each in pod.status.resource_claim_statuses]
    names += [each.resource_claim_name for each in pod.spec.resource_claims]
    if pod.status.extended_resource_claim_status is not None:
        names.append(pod.status.extended_resource_claim_status.resource_claim_name)
    return list(dict.fromkeys(each for each in names if each))


def _judge_pods(wants: Wants, sights: Sights) -> Iterator[str]:
    for pattern, want in wants.pods.items():
        found = {name: pod for name, pod in sights.pods.items() if fnmatchcase(name, pattern)}
        if want.phase == _GONE:
            yield from (f"pod {name} is still there" for name in found)
            continue
        if not found and want.count != 0:
            yield f"pod {pattern} is not there"
        if want.count is not None and len(found) != want.count:
            yield f"there are {len(found)} pods {pattern}, not {want.count}"
        for name, pod in found.items():
            yield from (f"pod {name} {text}" for text in _judge_pod(pod, want, sights))


def _judge_pod(pod: Pod, want: WantedPod, sights: Sights) -> Iterator[str]:
    if want.phase and pod.status.phase != want.phase:
        yield f"is {pod.status.phase}, not {want.phase}"
    if want.node and not fnmatchcase(pod.spec.node_name, want.node):
        yield f"is on {pod.spec.node_name or 'no node'}, not on {want.node}"
    if want.devices is not None:
        yield from _compare("has", list(_list_devices(pod, sights)), want.devices)
    message = next((each.message for each in pod.status.conditions if each.type == "PodScheduled"), "")
    yield from (f"is told {message!r}, without {piece!r}" for piece in want.says if piece not in message)


def _compare(verb: str, found: Sequence[str], wanted: Sequence[str]) -> Iterator[str]:
    """Whether there is one for each pattern. The most exact pattern takes its pick first."""
    left = sorted(found)
    for pattern in sorted(wanted, key=lambda each: ("*" in each, each)):
        match = next((each for each in left if fnmatchcase(each, pattern)), None)
        if match is not None:
            left.remove(match)
            continue
        yield f"{verb} {_enumerate(found)}, not {_enumerate(wanted)}"
        return
    if left:
        yield f"{verb} {_enumerate(found)}, not {_enumerate(wanted)}"


def _enumerate(names: Sequence[str]) -> str:
    shown = ", ".join(sorted(names)[:_SHOWN])
    return (shown + (", ..." if len(names) > _SHOWN else "")) or "nothing"


def _list_devices(pod: Pod, sights: Sights) -> Iterator[str]:
    for name in _list_claim_names(pod):
        claim = sights.claims.get(f"{pod.metadata.namespace}/{name}")
        if claim is not None and claim.status.allocation is not None:
            yield from (f"{each.pool}/{each.device}" for each in claim.status.allocation.devices.results)


def _judge_claims(wants: Wants, sights: Sights) -> Iterator[str]:
    for pattern, want in wants.claims.items():
        found = {name: claim for name, claim in sights.claims.items() if fnmatchcase(name, pattern)}
        if want.state == "gone":
            yield from (f"claim {name} is still there" for name in found)
            continue
        if not found:
            yield f"claim {pattern} is not there"
        for name, claim in found.items():
            yield from (f"claim {name} {text}" for text in _judge_claim(claim, want))


def _judge_claim(claim: ResourceClaim, want: WantedClaim) -> Iterator[str]:
    status = claim.status
    state = "allocated" if status.allocation is not None else "pending"
    if want.state and state != want.state:
        yield f"is {state}, not {want.state}"
    if want.reserved is not None:
        yield from _compare("is reserved for", [each.name for each in status.reserved_for], want.reserved)
    results = status.allocation.devices.results if status.allocation is not None else ()
    for request, devices in want.devices.items():
        found = [f"{each.pool}/{each.device}" for each in results if each.request == request]
        yield from _compare(f"has for {request}", found, devices)
    if want.admin is not None and any(bool(each.admin_access) is not want.admin for each in results):
        yield f"has {'no ' if want.admin else ''}administrator's access to some device"
    if want.interfaces is not None:
        told = [each.network_data.interface_name for each in status.devices if each.network_data is not None]
        yield from _compare("tells of interfaces", [each for each in told if each], want.interfaces)


def _judge_events(wants: Wants, sights: Sights) -> Iterator[str]:
    for pod, pieces in wants.events.items():
        namespace, _, name = pod.partition("/")
        told = [
            f"{each.reason}: {each.message}"
            for each in sights.events
            if (each.involved_object.namespace, each.involved_object.name) == (namespace, name)
        ]
        for piece in pieces:
            if not any(piece in text for text in told):
                yield f"no event of pod {pod} says {piece!r}, but {told}"


def _judge_offers(wants: Wants, sights: Sights) -> Iterator[str]:
    if not wants.offered and not wants.withdrawn:
        return
    offered = [f"{each.spec.pool.name}/{device.name}" for each in sights.slices for device in each.spec.devices or ()]
    for pattern in wants.offered:
        if not any(fnmatchcase(each, pattern) for each in offered):
            yield f"device {pattern} is not published"
    for pattern in wants.withdrawn:
        yield from (f"device {each} is published" for each in offered if fnmatchcase(each, pattern))


def _judge_places(wants: Wants, sights: Sights) -> Iterator[str]:
    for label, pattern in wants.together.items():
        values = _list_values(label, pattern, sights)
        if len(set(values)) != 1 or not values[0]:
            yield f"pods {pattern} are on nodes with {label} {_enumerate(values)}, not one value"
    for label, pattern in wants.apart.items():
        values = _list_values(label, pattern, sights)
        if not values or len(set(values)) != len(values):
            yield f"pods {pattern} are on nodes with {label} {_enumerate(values)}, not each its own"


def _list_values(label: str, pattern: str, sights: Sights) -> list[str]:
    places = [pod.spec.node_name for name, pod in sights.pods.items() if fnmatchcase(name, pattern)]
    return [sights.nodes[each].metadata.labels.get(label, "") if each in sights.nodes else "" for each in places]


def _judge_alignment(wants: Wants, sights: Sights) -> Iterator[str]:
    for want in wants.aligned:
        found = [(name, claim) for name, claim in sights.claims.items() if fnmatchcase(name, want.claims)]
        if not found:
            yield f"claim {want.claims} is not there"
        for name, claim in found:
            values = list(_list_attributes(claim, want, sights))
            wanted = len(values) if want.differs else 1
            if not values or None in values or len(set(values)) != wanted:
                yield f"claim {name} has devices with {want.attribute} {_enumerate([str(each) for each in values])}"


def _list_attributes(claim: ResourceClaim, want: WantedAlignment, sights: Sights) -> Iterator[str | int | None]:
    for result in claim.status.allocation.devices.results if claim.status.allocation is not None else ():
        if want.requests and result.request not in want.requests:
            continue
        device = next(
            (
                device
                for each in sights.slices
                if (each.spec.driver, each.spec.pool.name) == (result.driver, result.pool)
                for device in each.spec.devices or ()
                if device.name == result.device
            ),
            None,
        )
        attribute = None if device is None else device.attributes.get(want.attribute)
        yield None if attribute is None else attribute.string if attribute.int is None else attribute.int
