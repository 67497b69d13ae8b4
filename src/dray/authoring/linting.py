"""Everything that is wrong with manifests, or worth knowing, in one go.

An object is judged as it is, by the API server's checks in its version, and as what it becomes in v1: what was mended
on the way is told as a finding, and a fault that is left shows at the line where it was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from dray.api.history.classic import CLASSIC_SHAPES
from dray.api.history.versions import find_former_kind
from dray.api.registry import Registry
from dray.api.strict import StrictReader
from dray.authoring.drafts import Change, Draft
from dray.authoring.findings import Finding, find_rule
from dray.authoring.judging import Judge, SchemaFault, Yardstick
from dray.authoring.reading import Manuscript
from dray.authoring.relations import Remark, Surroundings, remark_on, remark_on_duplicates
from dray.authoring.rewriting.classic import is_classic
from dray.authoring.rewriting.objects import rewrite
from dray.authoring.tree import Json, Tree

__all__ = ["lint"]

_GROUP: Final = "resource.k8s.io"
_EXPRESSION: Final = ".cel.expression"
_COMPILE_RULES: Final = ("cel-compile", "wrong-name", "quantity-as-text")
"""Rules about an expression that say no more than why it does not compile."""

_WRAPPINGS: Final = re.compile(r"\.(?:exactly|basic)\b")
"""What one version has in a path and another does not."""

_NO_TEXT: Final = ("expected `str`", "must be text, not ")
_ORDER: Final = ("yaml-syntax", "yaml-separator")


@dataclass(slots=True)
class _Case:
    """One object under judgement."""

    draft: Draft
    is_served: bool
    is_classic: bool
    raw: list[SchemaFault] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    expressions: dict[str, str] = field(default_factory=dict)
    """The expressions as they were, by path."""
    title: str = ""


def lint(manuscripts: Sequence[Manuscript], registry: Registry, yardstick: Yardstick) -> list[Finding]:
    """All findings, by file and line. Rewrites the drafts."""
    drafts = [draft for manuscript in manuscripts for draft in manuscript.drafts()]
    cases = [_open_case(draft, registry, yardstick.judge) for draft in drafts]
    doubles = list(remark_on_duplicates(drafts))
    rewrite(drafts, registry, yardstick.knowledge)
    around = Surroundings(drafts, yardstick.knowledge, yardstick.present, yardstick.judge)
    findings = [finding for manuscript in manuscripts for finding in manuscript.findings]
    for case in cases:
        findings += _Judgement(case, registry, around).findings()
    for draft, remark in doubles:
        findings.append(_finding(draft, remark))
    order = {manuscript.file: index for index, manuscript in enumerate(manuscripts)}
    unique = list(dict.fromkeys(findings))
    return sorted(unique, key=lambda each: (order[each.file], each.rule not in _ORDER, each.line))


def _finding(draft: Draft, remark: Remark) -> Finding:
    severity = find_rule(remark.rule).severity
    line, path = remark.part.line or draft.line, remark.part.path
    return Finding(remark.rule, severity, draft.file, line, path, remark.message, remark.hint or None, draft.title)


def _open_case(draft: Draft, registry: Registry, judge: Judge) -> _Case:
    is_served = registry.find_kind(draft.former, draft.kind) is not None
    case = _Case(draft, is_served, is_classic(draft))
    case.expressions = dict(_expressions(json.loads(draft.before), ""))
    if is_served:
        verdict = judge.check(draft.before)
        case.raw, case.warnings = list(verdict.faults), verdict.warnings
    elif case.is_classic:
        case.raw = list(_classic_faults(draft))
    return case


def _classic_faults(draft: Draft) -> Iterator[SchemaFault]:
    shape = CLASSIC_SHAPES.get(draft.kind)
    if shape is not None:
        for fault in StrictReader(shape).find_faults(draft.before):
            yield SchemaFault(fault.path, fault.problem.value, fault.hint or "")


def _expressions(value: Json, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            here = f"{path}.{name}" if path else name
            if here.endswith(_EXPRESSION) and isinstance(each, str):
                yield here, each
            else:
                yield from _expressions(each, here)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _expressions(each, f"{path}[{index}]")


class _Judgement:
    """What is said of one object, without saying it twice."""

    def __init__(self, case: _Case, registry: Registry, around: Surroundings) -> None:
        self._case = case
        self._draft = case.draft
        self._registry = registry
        self._around = around
        self._told: list[str] = []
        """Paths of which something was said already."""
        self._broken: set[str] = set()
        """Those of expressions that do not compile."""

    def findings(self) -> Iterator[Finding]:
        """Everything, in no order."""
        yield from self._about_kind()
        yield from self._about_expressions()
        for change in self._draft.changes:
            if change.rule and not self._is_folded(change):
                self._told.append(change.path)
                yield self._finding(change.rule, change.path, change.line, change.message, change.hint)
        yield from self._about_schema()
        if self._draft.is_dropped or self._draft.refusal:
            return
        unknown = {change.path for change in self._draft.changes if change.rule == "unknown-attribute"}
        for remark in remark_on(self._draft, self._around):
            if remark.rule != "selector-fails" or remark.part.path not in unknown:
                yield _finding(self._draft, remark)

    def _finding(self, rule: str, path: str, line: int, message: str, hint: str = "") -> Finding:
        return _finding(self._draft, Remark(rule, Tree(None, line, path), message, hint))

    def _about_kind(self) -> Iterator[Finding]:
        draft, case = self._draft, self._case
        version = draft.tree.find("apiVersion") or draft.tree
        kind = draft.former_kind
        former = find_former_kind(draft.former, kind)
        if case.is_served:
            for warning in case.warnings:
                rule = "version-deprecated" if "is deprecated in" in warning else "server-warning"
                yield self._finding(rule, "apiVersion" if rule == "version-deprecated" else "", version.line, warning)
        elif case.is_classic:
            since = former.until if former else "1.32"
            message = f"{kind} of {draft.former} is the classic API of DRA, gone since Kubernetes {since}"
            yield self._finding("classic-api", "apiVersion", version.line, message, "dray convert makes a start in v1")
        elif self._registry.find_kind(draft.former, kind) is not None:
            return  # in the right spelling, which is told besides
        elif draft.former.startswith(f"{_GROUP}/") and _is_lasting(kind, self._registry):
            since = f"gone since Kubernetes {former.until}" if former else "which never had it"
            message = f'no matches for kind "{kind}" in version "{draft.former}", {since}'
            yield self._finding("version-gone", "apiVersion", version.line, message, "dray convert writes it for v1")
        else:
            yield from self._about_unknown(kind)

    def _about_unknown(self, kind: str) -> Iterator[Finding]:
        draft = self._draft
        pairs = [(each.api_version(version.name), each.name) for each in self._registry for version in each.versions]
        verdict = self._around.judge.check(draft.before)
        versions = {version for version, name in pairs if name == kind}
        is_near = bool(get_close_matches(draft.former, sorted({version for version, _ in pairs}), n=1, cutoff=0.8))
        is_ours = draft.former in {version for version, _ in pairs} or draft.former.startswith(f"{_GROUP}/")
        if versions or is_near or is_ours or not draft.former or not kind:
            for fault in verdict.faults:
                line = draft.tree.locate(fault.path or "kind").line
                yield self._finding("unknown-kind", fault.path, line, fault.message, fault.hint)
        else:
            message = f"{kind} of {draft.former} is not looked at"
            pods = " but for its pods" if any(True for _ in draft.pod_specs()) else ""
            yield self._finding("unchecked-kind", "", draft.line, message + pods)

    def _about_expressions(self) -> Iterator[Finding]:
        """Expressions that do not compile, as they were written."""
        for path, text in self._case.expressions.items():
            verdict = self._around.judge.judge_selector(text)
            if verdict.fault is None:
                continue
            changes = [each for each in self._draft.changes if each.path == path and each.hint]
            self._told.append(path)
            self._broken.add(path)
            why = dict.fromkeys(each.message for each in changes if each.rule in _COMPILE_RULES)
            hint = self._mended(path, text) or next((each.hint for each in changes), "") or verdict.hint or ""
            line = next((each.line for each in changes), 0) or self._line_of(path)
            yield self._finding("cel-compile", path, line, "\n".join([verdict.fault, *why]), hint)

    def _mended(self, path: str, text: str) -> str:
        """The expression as it compiles; empty where it still does not."""
        part = next((each for each in self._draft.tree.walk() if each.path == path and each.text), None)
        if part is None or part.text == text or self._around.judge.judge_selector(part.text).fault is not None:
            return ""
        return part.text.strip()

    def _line_of(self, path: str) -> int:
        found = next((part for part in self._draft.tree.walk() if part.path == path), None)
        return (found or self._draft.tree.locate(path)).line

    def _is_folded(self, change: Change) -> bool:
        """Whether a change was told with the expression that does not compile for it."""
        return change.path in self._broken and change.rule in _COMPILE_RULES

    def _about_schema(self) -> Iterator[Finding]:
        told = list(self._told)
        for fault in self._case.raw:
            if not any(_is_about(fault.path, path) for path in told) and not self._is_mended(fault):
                part = next((each for each in self._draft.tree.walk() if each.path == fault.path), None)
                part = part or self._draft.tree.locate(fault.path)
                path = part.path if _is_whole(part, fault.path) else fault.path
                self._told += [fault.path, path]
                yield self._schema(fault, path, part.line)
        if not (self._draft.is_dropped or self._draft.refusal):
            yield from self._about_result()

    def _is_mended(self, fault: SchemaFault) -> bool:
        """Whether something is missing only because it stood elsewhere, or was called otherwise."""
        if not fault.message.startswith("Required value") or not any(each.rule for each in self._draft.changes):
            return False
        texts = [text for _, _, text in _judged(self._draft, self._registry)]
        return not any(each.path == fault.path for text in texts for each in self._around.judge.check(text).faults)

    def _about_result(self) -> Iterator[Finding]:
        """What is wrong with the object even when it is rewritten."""
        for prefix, root, text in _judged(self._draft, self._registry):
            for fault in self._around.judge.check(text).faults:
                part = root.locate(fault.path.removeprefix(prefix))
                path = part.path if _is_whole(part, fault.path) else fault.path
                if not any(_is_about(path, each) or _is_about(fault.path, each) for each in self._told):
                    self._told.append(path)
                    yield self._schema(fault, path, part.line)

    def _schema(self, fault: SchemaFault, path: str, line: int) -> Finding:
        hint = fault.hint
        if not hint and any(each in fault.message for each in _NO_TEXT):  # `on`, `y` and 1.10 are no texts in YAML
            hint = "write it in quotes"
        return self._finding("schema", path, line, fault.message, hint)


def _is_lasting(kind: str, registry: Registry) -> bool:
    return any((each.group, each.name) == (_GROUP, kind) for each in registry)


def _is_whole(part: Tree, path: str) -> bool:
    """Whether a path led all the way, so that the author's name for the place can stand for it."""
    last = path.rpartition(".")[2]
    return bool(part.path) and part.path.rpartition(".")[2] == last


def _judged(draft: Draft, registry: Registry) -> Iterator[tuple[str, Tree, bytes]]:
    """What of an object can be checked: itself, or the pods it makes; with the beginning of paths in it."""
    if registry.find_kind(draft.api_version, draft.kind) is not None:
        yield "", draft.tree, draft.tree.json()
        return
    for spec in draft.pod_specs():
        pod: dict[str, Json] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec.plain()}
        yield "spec.", spec, json.dumps(pod).encode()


def _is_about(path: str, other: str) -> bool:
    """Whether two paths are the same, or one leads to the other, in whichever version they are written."""
    path, other = (_WRAPPINGS.sub("", each) for each in (path, other))
    longer, shorter = (path, other) if len(path) >= len(other) else (other, path)
    return longer == shorter or (bool(shorter) and longer.startswith((f"{shorter}.", f"{shorter}[")))
