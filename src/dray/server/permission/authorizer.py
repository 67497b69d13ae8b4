"""The authorizer of the server: who may do everything, then node agents, then roles."""

from collections.abc import Sequence

from dray.api.rbac.role import PolicyRule
from dray.server.permission.bootstraproles import NODE_RULES
from dray.server.permission.escalation import MASTERS
from dray.server.permission.nodes import NodeAuthorizer, find_node
from dray.server.permission.rbac import HeldRules, RbacAuthorizer, RbacIndex
from dray.server.ports import AccessAttributes, Authorizer, Decision, User, View

__all__ = ["MastersAuthorizer", "NamedAuthorizer", "Permissions", "UnionAuthorizer"]


class MastersAuthorizer:
    """Allows everything to the group system:masters, whatever the roles say: nobody locks themselves out."""

    _ALLOWED = Decision(is_allowed=True)
    _NO_OPINION = Decision(is_allowed=False)

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        """Whether the user is a master."""
        return self._ALLOWED if MASTERS in user.groups else self._NO_OPINION


class NamedAuthorizer:
    """Puts the name of an authorizer before its reasons not to allow something."""

    def __init__(self, name: str, authorizer: Authorizer) -> None:
        self._name = name
        self._authorizer = authorizer

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        """What the authorizer says."""
        decision = self._authorizer.decide(user, attributes)
        if decision.is_allowed or not decision.reason:
            return decision
        return Decision(is_allowed=False, reason=f"{self._name}: {decision.reason}")


class UnionAuthorizer:
    """Asks one after the other until one allows; none can forbid what another allows."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = tuple(authorizers)

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        """Whether one of them allows it; if not, what each had to say."""
        reasons: list[str] = []
        for authorizer in self._authorizers:
            decision = authorizer.decide(user, attributes)
            if decision.is_allowed:
                return decision
            if decision.reason:
                reasons.append(decision.reason)
        return Decision(is_allowed=False, reason="\n".join(reasons))


class Permissions:
    """Everything the server knows about who may do what, by what is stored now."""

    def __init__(self, view: View, node_rules: Sequence[PolicyRule] = NODE_RULES) -> None:
        self._rbac = RbacAuthorizer(view)
        self._union = UnionAuthorizer(
            (
                MastersAuthorizer(),
                NamedAuthorizer("node", NodeAuthorizer(view, node_rules)),
                NamedAuthorizer("rbac", self._rbac),
            )
        )

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        """Whether `user` may do it."""
        return self._union.decide(user, attributes)

    def rules_for(self, user: User, namespace: str) -> HeldRules:
        """All that a user is allowed in a namespace, as far as it can be listed: what agents may is decided by case."""
        held = self._rbac.rules_for(user, namespace)
        if find_node(user) is None:
            return held
        return HeldRules(held.rules, ("node authorizer does not support user rule resolution", *held.faults))

    def index(self) -> RbacIndex:
        """Roles and bindings as they are now."""
        return self._rbac.index()
