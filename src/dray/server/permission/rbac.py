"""Roles and bindings asked for a decision.

Cluster-wide bindings are asked first, then those of the namespace, each in order of their names. The first that allows
decides and is named in the reason; there is no rule that denies. A binding whose role does not exist is passed over and
mentioned if nothing else allows.

An index is kept for as long as the four lists stay the same objects. In it, what a user was granted is found once, so a
decision asks a handful of compiled rules.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import is_
from typing import NamedTuple

from msgspec import Struct

from dray.api.rbac.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from dray.api.rbac.role import ClusterRole, PolicyRule, Role
from dray.api.rbac.rolebinding import ClusterRoleBinding, RoleBinding, RoleRef, Subject
from dray.server.permission.rules import CompiledRule, compile_rule, is_allowed
from dray.server.ports import AccessAttributes, Decision, User, View
from dray.values.quoting import quote

__all__ = ["HeldRules", "RbacAuthorizer", "RbacIndex", "RbacObjects", "join_faults"]

_GROUP = CLUSTER_ROLE.group
_MAX_REMEMBERED = 4096
"""Users (with a namespace) whose grants are remembered, a few hundred bytes each. Then memory starts anew."""

AnyBinding = RoleBinding | ClusterRoleBinding
_SubjectKey = tuple[str, str]
"""`user` or `group`, and its name; service accounts are users."""


class RbacObjects(NamedTuple):
    """Everything a decision rests on."""

    cluster_roles: Sequence[ClusterRole] = ()
    cluster_bindings: Sequence[ClusterRoleBinding] = ()
    roles: Sequence[Role] = ()
    bindings: Sequence[RoleBinding] = ()


class HeldRules(NamedTuple):
    """All that a user is allowed somewhere, and what could not be found out."""

    rules: tuple[PolicyRule, ...] = ()
    faults: tuple[str, ...] = ()


class _Grant(Struct, frozen=True, gc=False):
    """One binding as it applies to one of its subjects."""

    position: int
    """Of the binding among all: grants are asked in this order."""
    subject: int
    """Of the subject in the binding."""
    allowed: Decision
    rules: tuple[CompiledRule, ...]
    source: tuple[PolicyRule, ...]
    fault: str = ""


class RbacIndex:
    """Grants by subject: those of the cluster, and those of each namespace."""

    def __init__(self, objects: RbacObjects) -> None:
        self._rules = {("ClusterRole", "", role.metadata.name): role.rules for role in objects.cluster_roles}
        self._rules |= {("Role", role.metadata.namespace, role.metadata.name): role.rules for role in objects.roles}
        self._compiled: dict[tuple[str, str, str], tuple[CompiledRule, ...]] = {}
        self._grants: defaultdict[str, defaultdict[_SubjectKey, list[_Grant]]] = defaultdict(lambda: defaultdict(list))
        self._remembered: dict[tuple[str, str, tuple[str, ...]], tuple[_Grant, ...]] = {}
        bindings: list[AnyBinding] = [*objects.cluster_bindings, *objects.bindings]
        for position, binding in enumerate(bindings):
            self._add(position, binding)

    def _add(self, position: int, binding: AnyBinding) -> None:
        namespace = binding.metadata.namespace
        for number, subject in enumerate(binding.subjects):
            key = _subject_key(subject, namespace)
            if key is not None:
                self._grants[namespace][key].append(self._grant(binding, position, number))

    def _grant(self, binding: AnyBinding, position: int, number: int) -> _Grant:
        role = binding.role_ref
        key = (role.kind, binding.metadata.namespace if role.kind == "Role" else "", role.name)
        rules = self._rules.get(key)
        allowed = Decision(is_allowed=True, reason=_render_reason(binding, binding.subjects[number]))
        if rules is None:
            return _Grant(position, number, allowed, (), (), _missing(role))
        if key not in self._compiled:
            self._compiled[key] = tuple(map(compile_rule, rules))
        return _Grant(position, number, allowed, self._compiled[key], rules)

    def decide(self, user: User, act: AccessAttributes) -> Decision:
        """Whether some grant allows it."""
        grants = self._grants_of(user, act.namespace)
        for grant in grants:
            if is_allowed(grant.rules, act):
                return grant.allowed
        faults = tuple(grant.fault for grant in grants if grant.fault)
        return Decision(is_allowed=False, reason=f"RBAC: {join_faults(faults)}" if faults else "")

    def rules_for(self, user: User, namespace: str) -> HeldRules:
        """Every rule the user holds in a namespace, or cluster-wide where it is empty."""
        grants = self._grants_of(user, namespace)
        rules = tuple(rule for grant in grants for rule in grant.source)
        return HeldRules(rules, tuple(grant.fault for grant in grants if grant.fault))

    def find_rules(self, role: RoleRef, namespace: str) -> tuple[PolicyRule, ...] | None:
        """The rules a binding in this namespace would give."""
        return self._rules.get((role.kind, namespace if role.kind == "Role" else "", role.name))

    def _grants_of(self, user: User, namespace: str) -> tuple[_Grant, ...]:
        key = (namespace, user.name, user.groups)
        known = self._remembered.get(key)
        if known is None:
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            known = self._remembered[key] = tuple(self._find_grants(user, namespace))
        return known

    def _find_grants(self, user: User, namespace: str) -> Iterator[_Grant]:
        keys = [("user", user.name), *(("group", group) for group in user.groups)]
        places = [self._grants[place] for place in dict.fromkeys(("", namespace)) if place in self._grants]
        found = [grant for grants in places for key in keys for grant in grants.get(key, ())]
        last = -1
        for grant in sorted(found, key=lambda grant: (grant.position, grant.subject)):
            if grant.position != last:
                yield grant
            last = grant.position


class RbacAuthorizer:
    """Decides by the roles and bindings of a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._revision = -1
        self._objects = RbacObjects()
        self._index = RbacIndex(self._objects)

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        """Whether a binding allows it."""
        return self.index().decide(user, attributes)

    def rules_for(self, user: User, namespace: str) -> HeldRules:
        """Every rule the user holds in a namespace."""
        return self.index().rules_for(user, namespace)

    def index(self) -> RbacIndex:
        """The index of what is stored now."""
        revision = self._view.revision()
        if revision != self._revision:
            self._refresh()
            self._revision = revision
        return self._index

    def _refresh(self) -> None:
        objects = RbacObjects(
            self._view.list(CLUSTER_ROLE),
            self._view.list(CLUSTER_ROLE_BINDING),
            self._view.list(ROLE),
            self._view.list(ROLE_BINDING),
        )
        if not all(map(_are_same, objects, self._objects)):
            self._objects = objects
            self._index = RbacIndex(objects)


def _are_same(new: Sequence[object], old: Sequence[object]) -> bool:
    """Whether these are the very same objects. Most writes are of other kinds, and an index is worth keeping."""
    return new is old or (len(new) == len(old) and all(map(is_, new, old)))


def _subject_key(subject: Subject, namespace: str) -> _SubjectKey | None:
    match subject.kind:
        case "User":
            return ("user", subject.name)
        case "Group":
            return ("group", subject.name)
        case "ServiceAccount" if subject.namespace or namespace:
            return ("user", f"system:serviceaccount:{subject.namespace or namespace}:{subject.name}")
        case _:
            return None


def _render_reason(binding: AnyBinding, subject: Subject) -> str:
    metadata, role = binding.metadata, binding.role_ref
    if metadata.namespace:
        shown = f"RoleBinding {quote(f'{metadata.name}/{metadata.namespace}')}"
    else:
        shown = f"ClusterRoleBinding {quote(metadata.name)}"
    name = subject.name
    if subject.kind == "ServiceAccount":
        name = f"{subject.name}/{subject.namespace or metadata.namespace}"
    return f"RBAC: allowed by {shown} of {role.kind} {quote(role.name)} to {subject.kind} {quote(name)}"


def _missing(role: RoleRef) -> str:
    return f"{role.kind.lower()}.{_GROUP} {quote(role.name)} not found"


def join_faults(faults: Iterable[str]) -> str:
    """Several faults in one line, as Kubernetes joins errors: each once, in brackets if there are more."""
    each = list(dict.fromkeys(faults))
    return each[0] if len(each) == 1 else f"[{', '.join(each)}]"
