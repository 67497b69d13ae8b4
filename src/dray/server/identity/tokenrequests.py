"""`serviceaccounts/token`: a token for whoever may ask for one."""

from typing import TypeVar

from msgspec.structs import replace

from dray.api.authentication.checks import DEFAULT_TOKEN_SECONDS
from dray.api.authentication.kinds import TOKEN_REQUEST
from dray.api.authentication.tokenrequest import BoundObjectReference, TokenRequest, TokenRequestStatus
from dray.api.core.kinds import NODE, POD, SECRET, SERVICE_ACCOUNT
from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.errors import BadRequest, Conflict, Invalid, NotFound, ObjectRef, invalid
from dray.server.identity.accounts import AccountTokens, BoundTo, Reference
from dray.server.ports import View
from dray.values.fieldpath import METADATA
from dray.values.quoting import quote
from dray.values.times import Time

__all__ = ["TokenIssuer"]

K = TypeVar("K", bound=ApiObject)


class TokenIssuer:
    """Answers requests for tokens, by the objects of a view."""

    def __init__(self, tokens: AccountTokens, view: View) -> None:
        self._tokens = tokens
        self._view = view

    def issue(self, request: TokenRequest, account: tuple[str, str], now: Time, token_id: str) -> TokenRequest:
        """The request with the token in its status, for the account of this namespace and name.

        Expects a request that was defaulted and checked. Raises NotFound for an account, or an object to bind to, that
        is not there, BadRequest for one that cannot be bound to, Conflict for one that was made anew, Invalid for
        another name. `token_id` names
        the token and is never used twice.
        """
        namespace, name = account
        self._check_name(request, namespace, name)
        stored = self._get(SERVICE_ACCOUNT, namespace, name)
        uid = request.metadata.uid
        if uid and uid != stored.metadata.uid:
            raise _conflict(
                TOKEN_REQUEST.name,
                name,
                f"the UID in the token request ({uid}) does not match the UID of the service account "
                f"({stored.metadata.uid})",
                group=TOKEN_REQUEST.group,
            )
        bound = BoundTo(namespace, Reference(name, stored.metadata.uid))
        if request.spec.bound_object_ref is not None:
            bound = self._bind(bound, request.spec.bound_object_ref)
        spec = request.spec
        audiences = spec.audiences or self._tokens.audiences
        end = now.plus_seconds(spec.expiration_seconds or DEFAULT_TOKEN_SECONDS)
        token = self._tokens.sign(bound, audiences, (now, end), token_id)
        metadata = replace(
            request.metadata, name=name, namespace=namespace, uid=stored.metadata.uid, creation_timestamp=now
        )
        return replace(
            request,
            metadata=metadata,
            spec=replace(spec, audiences=audiences),
            status=TokenRequestStatus(token=token, expiration_timestamp=end),
        )

    def _check_name(self, request: TokenRequest, namespace: str, name: str) -> None:
        if request.metadata.name not in ("", name):
            fault = invalid(
                METADATA / "name", request.metadata.name, "must match the service account name if specified"
            )
            raise Invalid(ObjectRef(TOKEN_REQUEST.group, TOKEN_REQUEST.name, name=name), [fault])
        if request.metadata.namespace not in ("", namespace):
            raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")

    def _bind(self, bound: BoundTo, reference: BoundObjectReference) -> BoundTo:
        group, _, version = reference.api_version.rpartition("/")
        found: ApiObject
        match (group, reference.kind):
            case ("", "Pod"):
                found = pod = self._get(POD, bound.namespace, reference.name)
                if pod.spec.service_account_name != bound.service_account.name:
                    raise BadRequest(
                        f"cannot bind token for serviceaccount {quote(bound.service_account.name)} "
                        "to pod running with different serviceaccount name."
                    )
                node = self._find_node(pod.spec.node_name)
                bound = replace(bound, pod=_refer(pod), node=node)
            case ("", "Node"):
                found = self._get(NODE, "", reference.name)
                bound = replace(bound, node=_refer(found))
            case ("", "Secret"):
                found = self._get(SECRET, bound.namespace, reference.name)
                bound = replace(bound, secret=_refer(found))
            case _:
                raise BadRequest(f"cannot bind token to object of type {group}/{version}, Kind={reference.kind}")
        if reference.uid and reference.uid != found.metadata.uid:
            raise _conflict(
                reference.kind,
                reference.name,
                f"the UID in the bound object reference ({reference.uid}) does not match the UID in record. "
                "The object might have been deleted and then recreated",
            )
        return bound

    def _find_node(self, name: str) -> Reference | None:
        """The node a pod runs on; its uid is left out if the node is not known (any more)."""
        if not name:
            return None
        node = self._view.find(NODE, "", name)
        return Reference(name, node.metadata.uid if node is not None else "")

    def _get(self, kind: Kind[K], namespace: str, name: str) -> K:
        found = self._view.find(kind, namespace, name)
        if found is None:
            about = ObjectRef(kind.group, kind.name, kind.plural, namespace, name)
            raise NotFound(f"{about.qualified_resource} {quote(name)} not found", about)
        return found


def _refer(thing: ApiObject) -> Reference:
    return Reference(thing.metadata.name, thing.metadata.uid)


def _conflict(resource: str, name: str, detail: str, *, group: str = "") -> Conflict:
    about = ObjectRef(group, "", resource, "", name)
    return Conflict(f"Operation cannot be fulfilled on {about.qualified_resource} {quote(name)}: {detail}", about)
