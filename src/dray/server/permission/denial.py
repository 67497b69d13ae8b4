"""Refusals in Kubernetes' words."""

from dray.api.checks import AccessQuestion
from dray.errors import Forbidden, ObjectRef
from dray.server.ports import AccessAttributes, Authorizer, Decision, User
from dray.values.quoting import quote

__all__ = ["deny_question", "forbid", "refuse"]


def refuse(user: User, act: AccessAttributes, decision: Decision) -> Forbidden:
    """The error for an act that was not allowed."""
    detail = _render_act(user, act)
    if decision.reason:
        detail = f"{detail}: {decision.reason}"
    about = ObjectRef() if act.path else ObjectRef(act.group, "", act.resource, act.namespace, act.name)
    return forbid(about, detail)


def forbid(about: ObjectRef, detail: str) -> Forbidden:
    """The error that something may not be done to an object, for the reason given."""
    subject = about.qualified_resource
    if subject and about.name:
        subject = f"{subject} {quote(about.name)}"
    return Forbidden(f"{subject} is forbidden: {detail}" if subject else f"forbidden: {detail}", about)


def deny_question(user: User, question: AccessQuestion, authorizer: Authorizer) -> str | None:
    """Why the user may not, as `CheckContext.deny` has to answer; None if the user may."""
    act = AccessAttributes(
        verb=question.verb,
        group=question.group,
        version="*",
        resource=question.resource,
        subresource=question.subresource,
        namespace=question.namespace,
        name=question.name,
    )
    decision = authorizer.decide(user, act)
    return None if decision.is_allowed else str(refuse(user, act, decision))


def _render_act(user: User, act: AccessAttributes) -> str:
    who = f"User {quote(user.name)} cannot {act.verb}"
    if act.path:
        return f"{who} path {quote(act.path)}"
    resource = f"{act.resource}/{act.subresource}" if act.subresource else act.resource
    where = f"in the namespace {quote(act.namespace)}" if act.namespace else "at the cluster scope"
    return f"{who} resource {quote(resource)} in API group {quote(act.group)} {where}"
