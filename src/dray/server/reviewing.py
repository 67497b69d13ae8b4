"""Questions that are posted, answered and forgotten: reviews of access and identity, and requests for tokens."""

from typing import Any

from msgspec.structs import replace

from dray.api.authentication.kinds import SELF_SUBJECT_REVIEW, TOKEN_REVIEW
from dray.api.authentication.selfreview import SelfSubjectReviewStatus
from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.authentication.tokenreview import TokenReviewStatus
from dray.api.authentication.user import UserInfo
from dray.api.authorization.checks import check_review_metadata
from dray.api.authorization.kinds import GROUP as AUTHORIZATION
from dray.api.authorization.kinds import SELF_SUBJECT_ACCESS_REVIEW, SELF_SUBJECT_RULES_REVIEW
from dray.api.meta import ApiObject
from dray.api.writing import get_reference
from dray.errors import ApiError, Invalid, ObjectRef
from dray.server.admission.request import Act
from dray.server.desk import Caller, Desk, Job
from dray.server.endpoints import Endpoint, Target
from dray.server.options import WriteQuery
from dray.server.ownership import own_creation
from dray.server.permission.reviews import review_access, review_own_access, review_own_rules

__all__ = ["is_review", "issue_token", "review"]


def is_review(endpoint: Endpoint) -> bool:
    """Whether objects of a kind are questions."""
    return endpoint.kind.verbs == ("create",) and endpoint.kind.group in (
        "authentication.k8s.io",
        AUTHORIZATION,
    )


def review(desk: Desk, target: Target, question: Any, options: WriteQuery, caller: Caller) -> ApiObject:
    """The question with its answer in the status."""
    kind, now = target.endpoint.kind, desk.now()
    question = kind.default(question, now)
    owned: Any = own_creation(target.endpoint, question, options.field_manager or caller.manager, now)
    _check(desk, kind, owned, caller)
    if kind is SELF_SUBJECT_REVIEW:
        user = caller.user
        known = UserInfo(username=user.name, uid=user.uid, groups=user.groups, extra=user.extra)
        meta = replace(question.metadata, creation_timestamp=now)
        answered: ApiObject = replace(question, metadata=meta, status=SelfSubjectReviewStatus(user_info=known))
        return answered
    if kind is SELF_SUBJECT_RULES_REVIEW:
        rules: ApiObject = review_own_rules(caller.user, question, desk.permissions)
        return rules
    if kind is SELF_SUBJECT_ACCESS_REVIEW:
        own: ApiObject = review_own_access(caller.user, owned, desk.permissions)
        return own
    if kind is TOKEN_REVIEW:
        if desk.tokens is None:
            unknown: ApiObject = replace(owned, status=TokenReviewStatus(error="invalid bearer token"))
            return unknown
        token: ApiObject = desk.tokens.review(owned)
        return token
    access: ApiObject = review_access(owned, desk.permissions)
    return access


def issue_token(desk: Desk, job: Job, request: TokenRequest, kind: Any) -> TokenRequest:
    """A token for the service account of the path."""
    target, now = job.target, desk.now()
    request = kind.default(request, now)
    _check(desk, kind, request, job.caller)
    desk.admit(desk.request(job, Act.CREATE, new=request), job.caller)
    if desk.tokens is None:
        raise ApiError("this server issues no tokens")
    issued = desk.tokens.issue(request, (target.namespace or "", target.name), now, desk.entropy.uid())
    endpoint, manager = desk.routes.find_endpoint(kind), job.options.field_manager or job.caller.manager
    owned = own_creation(endpoint, replace(request, spec=issued.spec), manager, now, target.subresource)
    return replace(issued, metadata=replace(issued.metadata, managed_fields=owned.metadata.managed_fields))


def _check(desk: Desk, kind: Any, thing: Any, caller: Caller) -> None:
    faults = [fault for check in kind.create_checks for fault in check(thing, None, desk.context(caller, desk.now()))]
    if kind.group == AUTHORIZATION and kind is not SELF_SUBJECT_RULES_REVIEW:
        faults += check_review_metadata(thing)
    if faults:
        about = get_reference(kind, thing)
        # The API server names no kind where it refuses the reviews of this group.
        nameless = ObjectRef(kind.group)
        raise Invalid(nameless if kind.group == AUTHORIZATION else about, faults)
