"""What every verb works with: the store and a view of it, who decides, and what a check may ask."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from dray.api.checks import AccessQuestion, ExpressionVerdict
from dray.api.core.kinds import NAMESPACE, RESOURCE_QUOTA
from dray.api.core.resourcequota import ResourceQuota
from dray.api.meta import ApiObject
from dray.api.rbac.kinds import CLUSTER_ROLE, ROLE
from dray.api.rbac.kinds import GROUP as RBAC
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.errors import ApiError, NotFound
from dray.merge.apply import Writer
from dray.server.admission.chain import admit, approve
from dray.server.admission.request import Act, AdmissionRequest, AnyRequest
from dray.server.encoding import encode_put
from dray.server.endpoints import Endpoint, Routes, StoredForm, Target, get_form
from dray.server.nodes import ReachableNodes
from dray.server.objects import ObjectView
from dray.server.options import WriteQuery
from dray.server.ownership import own_update
from dray.server.permission.authorizer import Permissions
from dray.server.permission.denial import deny_question
from dray.server.permission.escalation import RbacWriter, refuse_binding, refuse_role
from dray.server.ports import SelectorJudge, Tokens, User
from dray.store.port import Put, Record, Store, Write
from dray.store.watchcache import WatchCache
from dray.values.times import Time

__all__ = ["OWN_MANAGER", "Answer", "Caller", "Desk", "Job", "RequestContext", "missing"]

OWN_MANAGER: Final = "dray-apiserver"
"""The field manager of what the server writes by itself."""
_NODE_CLAIM: Final = "authentication.kubernetes.io/node-name"


@dataclass(slots=True)
class Caller:
    """Who makes a request, and what is to be told them besides the answer."""

    user: User
    manager: str = "unknown"
    """Field manager of writes that name none."""
    warnings: list[str] = field(default_factory=list)
    verb: str = ""
    """Of the request: create, update or patch."""


class Job(NamedTuple):
    """One write on its way."""

    target: Target
    options: WriteQuery
    caller: Caller


@dataclass(frozen=True, slots=True)
class Answer:
    """An object that a verb leads to, as it is stored. `code` is 201 for a new one."""

    endpoint: Endpoint
    body: bytes
    code: int = 200
    record: Record | None = None
    """The stored state, unless nothing was stored."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything the verbs need, and nothing of HTTP."""

    routes: Routes
    store: Store
    view: ObjectView
    watches: WatchCache
    clock: Clock
    entropy: Entropy
    judge: SelectorJudge
    permissions: Permissions
    tokens: Tokens | None = None
    nodes: ReachableNodes = field(default_factory=ReachableNodes)
    """Whoever runs node agents attaches them."""

    def now(self) -> Time:
        """This second."""
        return self.clock.now().to_time()

    def context(self, caller: Caller, now: Time) -> "RequestContext":
        """What checks of this request may ask."""
        return RequestContext(self, caller.user, now, caller.verb)

    def find(self, target: Target) -> tuple[Record, ApiObject]:
        """A stored object. Raises NotFound."""
        record = self.view.record(target.key)
        if record is None:
            raise missing(target)
        return record, self.view.decode(target.endpoint.form, record)

    def admit(self, request: AnyRequest, caller: Caller) -> Any:
        """The object as admission completes it, None for a deletion. Raises ApiError where it may not be written."""
        admitted = admit(request, self.view)
        refusal = self._refuse_grant(request)
        if refusal is not None:
            raise refusal
        caller.warnings += admitted.warnings
        return admitted.thing

    async def store_object(self, form: StoredForm, put: Put, thing: ApiObject, side_writes: list[Write]) -> Record:
        """Store an object, encoded as `put`, and what belongs with it; its state. Raises as `Store.commit` does."""
        self.view.foresee(form, put, thing)
        try:
            changes = await self.store.commit([put, *side_writes])
        finally:
            self.view.dismiss(put)
        record = changes[0].record
        assert record is not None
        return record

    def _refuse_grant(self, request: AnyRequest) -> ApiError | None:
        """Why the caller may not give somebody what they are not allowed themselves."""
        if request.kind.group != RBAC or request.act is Act.DELETE:
            return None
        writer, new = RbacWriter(request.user, self.permissions), request.new
        assert new is not None
        if request.kind in (ROLE, CLUSTER_ROLE):
            return refuse_role(writer, new, request.old)
        return refuse_binding(writer, new, request.old)

    def request(self, job: Job, act: Act, *, new: Any = None, old: Any = None) -> AnyRequest:
        """A write as admission sees it."""
        target, options, caller = job
        return AdmissionRequest(
            act=act,
            kind=target.endpoint.kind,
            user=caller.user,
            now=self.now(),
            namespace=target.namespace or "",
            name=target.name,
            subresource=target.subresource,
            is_dry_run=options.is_dry_run,
            new=new,
            old=old,
            authorizer=self.permissions,
        )

    def approve(self, request: AnyRequest, caller: Caller) -> list[Write]:
        """The last word of admission on a checked write, and what has to be written together with it."""
        approved = approve(request, self.view)
        caller.warnings += approved.warnings
        return [self._charge(quota) for quota in approved.quota_charges]

    def _charge(self, quota: ResourceQuota) -> Write:
        form, meta = get_form(RESOURCE_QUOTA), quota.metadata
        stored = self.view.find(RESOURCE_QUOTA, meta.namespace, meta.name)
        if stored is not None:
            endpoint, writer = self.routes.find_endpoint(RESOURCE_QUOTA), Writer(OWN_MANAGER, str(self.now()))
            quota = cast("ResourceQuota", own_update(endpoint, "status", stored, quota, writer))  # of the same type
        return encode_put(form, quota, form.key(meta.namespace, meta.name), int(meta.resource_version))


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The `CheckContext` of one request."""

    desk: Desk
    user: User
    now: Time
    verb: str

    @property
    def caller_node(self) -> str | None:
        """The node that a service account's token is bound to."""
        return next(iter(self.user.extra.get(_NODE_CLAIM, ())), None)

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """Compile as at admission."""
        return self.desk.judge.judge_selector(expression)

    def judge_derived_attribute(self, expression: str) -> ExpressionVerdict:
        """Compile as at admission."""
        return self.desk.judge.judge_derived_attribute(expression)

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """Labels as stored now."""
        found = self.desk.view.find(NAMESPACE, "", namespace)
        return None if found is None else found.metadata.labels

    def deny(self, question: AccessQuestion) -> str | None:
        """Ask the authorizer."""
        return deny_question(self.user, question, self.desk.permissions)


def missing(target: Target) -> NotFound:
    """There is no such object."""
    about = target.ref
    return NotFound(f'{about.qualified_resource} "{about.name}" not found', about)
