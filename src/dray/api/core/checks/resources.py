"""Amounts of resources, and devices from claims, in containers and in pods as a whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from dray.api.core.checks.naming import key_faults, label_faults, suggest
from dray.api.core.podresources import sum_container_requests
from dray.api.core.podspec import PodSpec
from dray.api.core.resources import ResourceClaim, ResourceRequirements
from dray.errors import FieldError, duplicate, forbidden, invalid, not_found, not_supported, required
from dray.values.fieldpath import FieldPath, key
from dray.values.names import label_key_faults
from dray.values.quantity import Quantity

__all__ = [
    "amount_faults",
    "container_resource_faults",
    "container_resource_name_faults",
    "is_extended",
    "is_hugepages",
    "is_integer_resource",
    "negative_faults",
    "overhead_faults",
    "pod_resource_faults",
    "resource_name_faults",
]

NameRule = Callable[[str, FieldPath], Iterator[FieldError]]

_HUGEPAGES = "hugepages-"
_CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED_OBJECTS = frozenset(
    {
        *("pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"),
        *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
    }
)
_STANDARD_RESOURCES = (
    _CONTAINER_RESOURCES
    | _COUNTED_OBJECTS
    | {f"{part}.{name}" for part in ("requests", "limits") for name in _CONTAINER_RESOURCES}
    | {"storage", "requests.storage"}
)
_POD_RESOURCES = ("cpu", _HUGEPAGES, "memory")


def is_hugepages(name: str) -> bool:
    """Whether a resource is pages of a certain size."""
    return name.startswith(_HUGEPAGES)


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Whether a resource is one that some device plugin or device class brings, such as `example.com/gpu`."""
    return not _is_native(name) and not name.startswith("requests.") and not label_key_faults(f"requests.{name}")


def is_integer_resource(name: str) -> bool:
    """Whether there are only whole numbers of a resource."""
    return name in _COUNTED_OBJECTS or is_extended(name)


def _may_overcommit(name: str) -> bool:
    return _is_native(name) and not is_hugepages(name)


def resource_name_faults(name: str, path: FieldPath) -> Iterator[FieldError]:
    """A qualified name, or one of those Kubernetes knows."""
    faults = list(key_faults(name, path))
    if not faults and "/" not in name and not _is_standard(name):
        hint = suggest(name, _CONTAINER_RESOURCES) or f"resources of devices have a domain, such as example.com/{name}"
        faults.append(invalid(path, name, "must be a standard resource type or fully qualified", hint=hint))
    yield from faults


def _is_standard(name: str) -> bool:
    return name in _STANDARD_RESOURCES or name.startswith((_HUGEPAGES, f"requests.{_HUGEPAGES}"))


def container_resource_name_faults(name: str, path: FieldPath) -> Iterator[FieldError]:
    """A resource that a container can ask for."""
    yield from resource_name_faults(name, path)
    if "/" not in name:
        if name not in _CONTAINER_RESOURCES and not is_hugepages(name):
            yield invalid(path, name, "must be a standard resource for containers")
    elif not _is_native(name) and not is_extended(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def _pod_resource_name_faults(name: str, path: FieldPath) -> Iterator[FieldError]:
    yield from resource_name_faults(name, path)
    if name not in _POD_RESOURCES and not is_hugepages(name):
        yield not_supported(path, name, _POD_RESOURCES)


def negative_faults(amount: Quantity, path: FieldPath) -> Iterator[FieldError]:
    """An amount is zero or more."""
    if amount.sign < 0:
        yield invalid(path, str(amount), "must be greater than or equal to 0")


def amount_faults(name: str, amount: Quantity, path: FieldPath) -> Iterator[FieldError]:
    """Zero or more, and whole where there are only whole ones."""
    yield from negative_faults(amount, path)
    if is_integer_resource(name) and amount.milli_value() % 1000:
        yield invalid(path, str(amount), "must be an integer")


def container_resource_faults(
    resources: ResourceRequirements, claim_names: Set[str], path: FieldPath
) -> Iterator[FieldError]:
    """Amounts and device claims of one container; `claim_names` are those the pod defines."""
    yield from _requirement_faults(resources, container_resource_name_faults, path)
    yield from _claim_faults(resources.claims, claim_names, path / "claims")


def overhead_faults(overhead: Mapping[str, Quantity], path: FieldPath) -> Iterator[FieldError]:
    """The overhead of a pod is checked as limits are, and its faults are placed so."""
    yield from _requirement_faults(ResourceRequirements(limits=overhead), container_resource_name_faults, path)


def _requirement_faults(
    resources: ResourceRequirements, name_faults: NameRule, path: FieldPath
) -> Iterator[FieldError]:
    for name, limit in resources.limits.items():
        at = path / "limits" / key(name)
        yield from name_faults(name, at)
        yield from amount_faults(name, limit, at)
    for name, request in resources.requests.items():
        at = path / "requests" / key(name)
        yield from name_faults(name, at)
        yield from amount_faults(name, request, at)
        yield from _overcommit_faults(name, request, resources.limits.get(name), path)
    names = resources.limits.keys() | resources.requests.keys()
    if any(map(is_hugepages, names)) and names.isdisjoint(("cpu", "memory")):
        yield forbidden(path, "HugePages require cpu or memory")


def _overcommit_faults(name: str, request: Quantity, limit: Quantity | None, path: FieldPath) -> Iterator[FieldError]:
    if limit is None:
        if not _may_overcommit(name):
            yield required(path / "limits", "Limit must be set for non overcommitable resources")
    elif request != limit and not _may_overcommit(name):
        yield invalid(path / "requests", str(request), f"must be equal to {name} limit of {limit}")
    elif request > limit:
        yield invalid(path / "requests", str(request), f"must be less than or equal to {name} limit of {limit}")


def _claim_faults(claims: Sequence[ResourceClaim], claim_names: Set[str], path: FieldPath) -> Iterator[FieldError]:
    wholes: set[str] = set()
    parts: dict[str, list[str]] = {}
    for index, claim in enumerate(claims):
        at = path / index
        if not claim.name:
            yield required(at, hint="name an entry of spec.resourceClaims")
            continue
        if claim.request:
            yield from label_faults(claim.request, at / "request")
        yield from _overlap_faults(claim, wholes, parts.setdefault(claim.name, []), at)
        if claim.name not in claim_names:
            yield _unknown_claim(claim.name, claim_names, at)


def _overlap_faults(claim: ResourceClaim, wholes: set[str], parts: list[str], path: FieldPath) -> Iterator[FieldError]:
    """A claim is used as a whole, or request by request, and each only once."""
    if claim.name in wholes:
        yield duplicate(path, claim.name, hint="the container has all devices of the claim already")
    elif claim.request:
        full_name = f"{claim.name}/{claim.request}"
        if full_name in parts:
            yield duplicate(path, full_name)
        else:
            parts.append(full_name)
    else:
        for _ in parts:
            yield duplicate(path, claim.name, hint="remove the entries for single requests, or this one")
        wholes.add(claim.name)


def _unknown_claim(name: str, claim_names: Set[str], path: FieldPath) -> FieldError:
    known = ", ".join(sorted(claim_names, key=str.encode))
    detail = "must be one of the names in pod.spec.resourceClaims" + (f": {known}" if known else " which is empty")
    hint = suggest(name, claim_names) or f"add an entry named {name} to spec.resourceClaims"
    return not_found(path, name, detail, hint=hint)


def pod_resource_faults(spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    """Amounts for the pod as a whole: of few resources, and not less than the containers ask for."""
    resources, at = spec.resources, path / "resources"
    if resources is None:
        return
    if resources.claims:
        yield forbidden(at / "claims", "claims may not be set for Resources at pod-level")
    yield from _requirement_faults(resources, _pod_resource_name_faults, at)
    for name, amount in sum_container_requests(spec).items():
        whole = resources.requests.get(name)
        if whole is not None and amount > whole:
            detail = f"must be greater than or equal to aggregate container requests of {amount}"
            yield invalid(at / "requests" / key(name), str(whole), detail)
    for part, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            limits = path / part / index / "resources" / "limits"
            yield from _above_pod_faults(container.resources.limits, resources.limits, limits)


def _above_pod_faults(
    limits: Mapping[str, Quantity], wholes: Mapping[str, Quantity], path: FieldPath
) -> Iterator[FieldError]:
    for name, limit in limits.items():
        whole = wholes.get(name)
        if whole is not None and limit > whole:
            yield invalid(path / key(name), str(limit), f"must be less than or equal to pod limits of {whole}")
