"""Objects of the input side by side: names that lead nowhere, objects that are there twice, wishes beyond reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dray.api.resource.checks.allocation import MAX_RESULTS
from dray.authoring.conditions import find_contradiction, list_conditions
from dray.authoring.drafts import Draft
from dray.authoring.judging import Judge, Present
from dray.authoring.knowledge import Knowledge
from dray.authoring.rewriting.selectors import driver_of, expressions_of
from dray.authoring.spelling import find_meant, suggest
from dray.authoring.tree import Tree

__all__ = ["Remark", "Surroundings", "remark_on", "remark_on_duplicates"]

_GROUP: Final = "resource.k8s.io"


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding about a part of a draft."""

    rule: str
    part: Tree
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything that one draft may be held against."""

    drafts: Sequence[Draft]
    knowledge: Knowledge
    present: Present
    judge: Judge

    def names(self, kind: str, namespace: str) -> set[str]:
        """The objects of a kind in the input."""
        found = [each for each in self.drafts if (each.group, each.kind) == (_GROUP, kind)]
        return {each.name for each in found if not namespace or each.namespace == namespace} - {""}

    def find(self, kind: str, namespace: str, name: str) -> Draft | None:
        """An object of the input."""
        return next(
            (
                each
                for each in self.drafts
                if (each.group, each.kind, each.namespace, each.name) == (_GROUP, kind, namespace, name)
            ),
            None,
        )


def remark_on(draft: Draft, around: Surroundings) -> Iterator[Remark]:
    """What is to be said of an object in the shape of v1."""
    for claim in draft.device_claims():
        yield from _remark_on_count(claim)
        yield from _remark_on_configs(claim, around)
        for request in claim.items_at("devices", "requests"):
            yield from _remark_on_request(request, around)
    if draft.kind == "DeviceClass" and (spec := draft.tree.find("spec")) is not None:
        yield from _remark_on_contradiction(spec, [], spec)
        yield from _remark_on_configs(Tree({"devices": spec}), around)
    for spec in draft.pod_specs():
        yield from _remark_on_references(draft, spec, around)


def _remark_on_request(request: Tree, around: Surroundings) -> Iterator[Remark]:
    exactly, alternatives = request.find("exactly"), request.items_at("firstAvailable")
    for part in [*([exactly] if exactly is not None else []), *alternatives]:
        yield from _remark_on_class(part, around)
        if "allocationMode" not in part.fields and "count" not in part.fields:
            yield Remark("implicit-count", part, "asks for one device: count is 1 where it is not given")
    if exactly is not None:
        yield from _remark_on_conditions(exactly, around)
    found = [list(_remark_on_conditions(each, around)) for each in alternatives]
    is_open = any(not any(remark.rule == "no-match" for remark in remarks) for remarks in found)
    for remarks in found:  # that one of several does not come true is what the others are for
        yield from (remark for remark in remarks if not (is_open and remark.rule == "no-match"))


def remark_on_duplicates(drafts: Sequence[Draft]) -> Iterator[tuple[Draft, Remark]]:
    """Objects that the input has twice."""
    seen: dict[tuple[str, str, str, str], Draft] = {}
    for draft in drafts:
        if not draft.name or draft.is_dropped:
            continue
        first = seen.setdefault((draft.group, draft.kind, draft.namespace, draft.name), draft)
        is_harmless = draft.kind == "Namespace" and draft.before == first.before
        if first is not draft and not is_harmless:
            name = draft.tree.find("metadata", "name") or draft.tree
            place = f"line {first.line}" if first.file == draft.file else f"{first.file}:{first.line}"
            message = f"{draft.title} is in the input already ({place}): applying it again changes that one, or nothing"
            yield draft, Remark("duplicate-object", name, message, "give it a name of its own, or remove it")


def _remark_on_count(claim: Tree) -> Iterator[Remark]:
    requests = claim.find("devices", "requests")
    if requests is None:
        return
    total = sum(map(_least_devices, requests.items))
    if total > MAX_RESULTS:
        message = f"asks for {total} devices; a claim has at most {MAX_RESULTS}"
        yield Remark("too-many-devices", requests, message, "spread them over several claims")


def _remark_on_configs(claim: Tree, around: Surroundings) -> Iterator[Remark]:
    """Whether drivers take the configuration that is meant for them."""
    for config in claim.items_at("devices", "config"):
        parameters = config.find("opaque", "parameters")
        if parameters is not None:
            fault = around.judge.judge_config(config.text_at("opaque", "driver"), parameters.json())
            if fault:
                yield Remark("driver-config", parameters, f"the driver refuses its configuration: {fault}")


def _least_devices(request: Tree) -> int:
    parts = (request.find("exactly"), *request.items_at("firstAvailable"))
    return min((_count(part) for part in parts if part is not None), default=0)


def _count(part: Tree) -> int:
    """How many devices are asked for, at least."""
    count = part.find("count")
    return count.value if count is not None and isinstance(count.value, int) else 1


def _remark_on_class(request: Tree, around: Surroundings) -> Iterator[Remark]:
    part = request.find("deviceClassName")
    if part is None or not part.text:
        return
    known = around.names("DeviceClass", "") | around.present.classes
    if part.text in known:
        return
    if around.present.is_cluster:
        yield _dangling(part, f"no DeviceClass {part.text} in the input or the cluster", known)
    elif near := find_meant(part.text, known | set(around.knowledge.classes)):
        yield Remark("dangling-reference", part, f"no DeviceClass {part.text} is known", f"did you mean {near}?")
    elif part.text not in around.knowledge.classes:
        yield Remark("reference-elsewhere", part, f"DeviceClass {part.text} is not in the input")


def _dangling(part: Tree, message: str, known: Iterable[str]) -> Remark:
    near = find_meant(part.text, known)
    return Remark("dangling-reference", part, message, f"did you mean {near}?" if near else "create it first")


def _remark_on_conditions(request: Tree, around: Surroundings) -> Iterator[Remark]:
    """Class and request together."""
    driver = driver_of(request, around.knowledge)
    of_class = around.knowledge.conditions_of(request.text_at("deviceClassName"), driver)
    remarks = list(_remark_on_contradiction(request, of_class, request))
    yield from remarks or _remark_on_match(request, driver, of_class, around)


def _remark_on_contradiction(holder: Tree, others: list[str], part: Tree) -> Iterator[Remark]:
    texts = [*others, *(each.text for each in expressions_of(holder))]
    found = find_contradiction(condition for text in texts for condition in list_conditions(text))
    if found is not None:
        one, other = found
        place = next((each for each in expressions_of(holder) if other.text in each.text), part)
        yield Remark("contradiction", place, f"no device is both: {one.text}, and {other.text}")


def _remark_on_match(request: Tree, driver: str, of_class: list[str], around: Surroundings) -> Iterator[Remark]:
    """Whether the known devices of the driver will do."""
    facts = around.knowledge.drivers.get(driver)
    if around.present.is_cluster and driver and (facts is None or facts.is_guessed):
        yield Remark("no-match", request, f"the cluster has no devices of {driver}")
        return
    if facts is None or not facts.devices:
        return
    fitting = facts.devices
    for text in of_class:
        fitting = [each for each in fitting if around.judge.matches(text, driver, each) is not False]
    where = f"of {driver} in {facts.source}"
    for expression in expressions_of(request):
        verdicts = [around.judge.matches(expression.text, driver, each) for each in fitting]
        failures = [each for each in verdicts if isinstance(each, str)]
        if failures and len(failures) == len(verdicts):
            yield Remark("selector-fails", expression, f"fails on every device {where}: {failures[0]}")
            return
        fitting = [each for each, verdict in zip(fitting, verdicts, strict=True) if verdict is not False]
        if not fitting:
            yield Remark("no-match", expression, f"none of the {len(facts.devices)} devices {where} meets this")
            return
    wanted = _count(request)
    if wanted > len(fitting) and not facts.is_guessed:
        message = f"asks for {wanted} devices; {len(fitting)} {where} will do"
        yield Remark("no-match", request.find("count") or request, message)


_REFERENCES: Final = {"resourceClaimTemplateName": "ResourceClaimTemplate", "resourceClaimName": "ResourceClaim"}


def _remark_on_references(draft: Draft, spec: Tree, around: Surroundings) -> Iterator[Remark]:
    added = {each.text_at("metadata", "name") for each in draft.additions}
    for entry in spec.items_at("resourceClaims"):
        for field, kind in _REFERENCES.items():
            part = entry.find(field)
            if part is None or not part.text or part.text in added:
                continue
            found = around.find(kind, draft.namespace, part.text)
            if found is not None:
                yield from _remark_on_uses(spec, entry.text_at("name"), found)
            else:
                yield from _remark_on_absence(draft, part, kind, around)


def _remark_on_absence(draft: Draft, part: Tree, kind: str, around: Surroundings) -> Iterator[Remark]:
    present = around.present.templates if kind == "ResourceClaimTemplate" else around.present.claims
    if (draft.namespace, part.text) in present:
        return
    known = around.names(kind, draft.namespace) | {name for namespace, name in present if namespace == draft.namespace}
    other = "ResourceClaim" if kind == "ResourceClaimTemplate" else "ResourceClaimTemplate"
    if around.find(other, draft.namespace, part.text) is not None:
        field = next(name for name, each in _REFERENCES.items() if each == other)
        yield Remark("dangling-reference", part, f"{part.text} is a {other}, not a {kind}", f"{field}: {part.text}")
    elif around.present.is_cluster or find_meant(part.text, known):
        where = "the input or the cluster" if around.present.is_cluster else "the input"
        yield _dangling(part, f"no {kind} {part.text} in namespace {draft.namespace} of {where}", known)
    else:
        yield Remark("reference-elsewhere", part, f"{kind} {part.text} is not in the input")


def _remark_on_uses(spec: Tree, name: str, found: Draft) -> Iterator[Remark]:
    """Containers may use a single request of a claim."""
    names = {
        full
        for claim in found.device_claims()
        for request in claim.items_at("devices", "requests")
        for full in _request_names(request)
    }
    for container in [*spec.items_at("initContainers"), *spec.items_at("containers")]:
        for use in container.items_at("resources", "claims"):
            request = use.find("request")
            if use.text_at("name") == name and request is not None and request.text not in names:
                near = suggest(request.text, names)
                hint = f"did you mean {near}?" if near else f"there are {', '.join(sorted(names))}" if names else ""
                yield Remark("unknown-request", request, f"{found.title} has no request {request.text}", hint)


def _request_names(request: Tree) -> Iterator[str]:
    name = request.text_at("name")
    yield name
    yield from (f"{name}/{each.text_at('name')}" for each in request.items_at("firstAvailable"))
