"""Claims and classes to flat demands: what each request wants, alternatives kept in order.

A shape is what claims ask for, without their names; pods made from one template ask in the same shape over and over,
and share what was found out about it. What is wrong with the claims themselves is found here, in Kubernetes' order,
and kept as a complaint: complaints about the node's devices may come before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dray.allocator.complaints import Complaint
from dray.allocator.outcome import FailureCode
from dray.api.resource.claim import DeviceConstraint, ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.request import (
    AllocationMode,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
)
from dray.values.quantity import Quantity

__all__ = ["MAX_DEVICES", "ClaimShape", "Constraint", "Demand", "RequestShape", "Shape", "shape_claims"]

MAX_DEVICES = 32
"""Devices that one claim can hold: the API's limit for the results of an allocation."""

FindClass = Callable[[str], DeviceClass | None]


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """What an exact request, or one alternative of a request, wants of devices.

    `label` is how results name it, `name` its own name, `parent` the request's. `count` is 0 if all are wanted.
    """

    claim: int
    parent: str
    name: str
    label: str
    class_name: str
    class_expressions: tuple[str, ...]
    expressions: tuple[str, ...]
    wants_all: bool
    count: int
    is_admin: bool
    tolerations: tuple[DeviceToleration, ...]
    amounts: Mapping[str, Quantity]
    derived: tuple[DeviceDerivedAttribute, ...]

    @property
    def subject(self) -> str:
        """How messages name the request, after the name of the claim."""
        return f", request {self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class RequestShape:
    """A request: one demand, or several of which the first that leads to a solution counts."""

    claim: int
    name: str
    demands: tuple[Demand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """A condition on one attribute of all devices of some requests: one common value, or all values distinct."""

    attribute: str
    is_distinct: bool
    requests: frozenset[str]

    def covers(self, demand: Demand) -> bool:
        """Whether picks for the demand fall under the constraint. No request named means all."""
        return not self.requests or demand.parent in self.requests or demand.label in self.requests


@dataclass(frozen=True, slots=True, eq=False)
class ClaimShape:
    """One claim. A complaint about a request was found after the demands listed, one about a constraint after all."""

    requests: tuple[RequestShape, ...]
    constraints: tuple[Constraint, ...]
    request_complaint: Complaint | None = None
    constraint_complaint: Complaint | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What a list of claims asks for. `classes` are those it was made with, by name; when one changes it is void.

    Ends with the first claim that has a complaint of its own.
    """

    claims: tuple[ClaimShape, ...]
    classes: tuple[tuple[str, DeviceClass | None], ...]


class _Malformed(Exception):
    def __init__(self, code: FailureCode, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def shape_claims(claims: Sequence[ResourceClaim], find_class: FindClass) -> Shape:
    """Flatten claims. Finds the first thing wrong with them, in the order in which kube-scheduler looks."""
    seen: dict[str, DeviceClass | None] = {}

    def find(name: str) -> DeviceClass | None:
        if name not in seen:
            seen[name] = find_class(name)
        return seen[name]

    shapes: list[ClaimShape] = []
    for number, claim in enumerate(claims):
        shapes.append(_shape_claim(number, claim, find))
        if shapes[-1].request_complaint or shapes[-1].constraint_complaint:
            break
    return Shape(tuple(shapes), tuple(seen.items()))


def _shape_claim(number: int, claim: ResourceClaim, find: FindClass) -> ClaimShape:
    requests: list[RequestShape] = []
    for request in claim.spec.devices.requests or ():
        demands: list[Demand] = []
        complaint: Complaint | None = None
        try:
            for each in _wishes(request):
                demand = _demand(number, request, each, find)
                demands.append(demand)
        except _Malformed as error:
            complaint = Complaint(error.code, error.text, number)
        requests.append(RequestShape(number, request.name, tuple(demands)))
        if complaint is not None:
            return ClaimShape(tuple(requests), (), request_complaint=complaint)
    constraints: list[Constraint] = []
    for index, constraint in enumerate(claim.spec.devices.constraints):
        flat = _constraint(constraint)
        if flat is None:
            text = f", constraint #{index}: empty constraint (unsupported constraint type?)"
            complaint = Complaint(FailureCode.BAD_REQUEST, text, number)
            return ClaimShape(tuple(requests), (), constraint_complaint=complaint)
        constraints.append(flat)
    return ClaimShape(tuple(requests), tuple(constraints))


def _wishes(request: DeviceRequest) -> tuple[ExactDeviceRequest | DeviceSubRequest, ...]:
    if request.first_available:
        return request.first_available
    return (request.exactly or ExactDeviceRequest(),)


def _demand(
    number: int, request: DeviceRequest, wish: ExactDeviceRequest | DeviceSubRequest, find: FindClass
) -> Demand:
    name = wish.name if isinstance(wish, DeviceSubRequest) else request.name
    subject = f", request {name}: "
    expressions = _expressions(wish.selectors, subject)
    if not wish.device_class_name:
        raise _Malformed(FailureCode.BAD_REQUEST, f"{subject}missing device class name (unsupported request type?)")
    device_class = find(wish.device_class_name)
    if device_class is None:
        cause = f'deviceclass.resource.k8s.io "{wish.device_class_name}" not found'
        text = f"{subject}could not retrieve device class {wish.device_class_name}: {cause}"
        raise _Malformed(FailureCode.UNKNOWN_CLASS, text)
    if wish.allocation_mode not in (AllocationMode.ALL, AllocationMode.EXACT_COUNT):
        raise _Malformed(FailureCode.BAD_REQUEST, f"{subject}unsupported count mode {wish.allocation_mode}")
    wants_all = wish.allocation_mode == AllocationMode.ALL
    return Demand(
        claim=number,
        parent=request.name,
        name=name,
        label=f"{request.name}/{name}" if isinstance(wish, DeviceSubRequest) else name,
        class_name=wish.device_class_name,
        class_expressions=tuple(each.cel.expression if each.cel else "" for each in device_class.spec.selectors),
        expressions=expressions,
        wants_all=wants_all,
        count=0 if wants_all else wish.count,
        is_admin=isinstance(wish, ExactDeviceRequest) and bool(wish.admin_access),
        tolerations=wish.tolerations,
        amounts=wish.capacity.requests if wish.capacity is not None else {},
        derived=wish.derived_attributes,
    )


def _expressions(selectors: tuple[DeviceSelector, ...], subject: str) -> tuple[str, ...]:
    expressions: list[str] = []
    for index, selector in enumerate(selectors):
        if selector.cel is None:
            text = f"{subject}selector #{index}: CEL expression empty (unsupported selector type?)"
            raise _Malformed(FailureCode.BAD_REQUEST, text)
        expressions.append(selector.cel.expression)
    return tuple(expressions)


def _constraint(constraint: DeviceConstraint) -> Constraint | None:
    requests = frozenset(constraint.requests)
    if constraint.match_attribute is not None:
        return Constraint(constraint.match_attribute, is_distinct=False, requests=requests)
    if constraint.distinct_attribute is not None:
        return Constraint(constraint.distinct_attribute, is_distinct=True, requests=requests)
    return None
