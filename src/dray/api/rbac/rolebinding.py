"""`RoleBinding` and `ClusterRoleBinding`: who has a role."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always

__all__ = ["ClusterRoleBinding", "RoleBinding", "RoleRef", "Subject"]


class Subject(ApiStruct):
    """A user, a group or a service account."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    kind: Annotated[str, Meta(description="User, Group or ServiceAccount.", extra=REQUIRED)] = always(str)
    api_group: Annotated[
        str, Meta(description="rbac.authorization.k8s.io for users and groups; absent for service accounts.")
    ] = ""
    name: Annotated[str, Meta(description="Name of the subject.", extra=REQUIRED)] = always(str)
    namespace: Annotated[str, Meta(description="Namespace of the service account.")] = ""


class RoleRef(ApiStruct):
    """The role that is given. It can never change; delete the binding to give another."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    api_group: Annotated[str, Meta(description="rbac.authorization.k8s.io.")] = always(str)
    kind: Annotated[str, Meta(description="Role or ClusterRole.", extra=REQUIRED)] = always(str)
    name: Annotated[str, Meta(description="Name of the role.", extra=REQUIRED)] = always(str)


class RoleBinding(ApiObject):
    """Gives a role to subjects, in one namespace."""

    subjects: Annotated[tuple[Subject, ...], Meta(description="Who gets the role.", extra=ATOMIC)] = ()
    role_ref: Annotated[RoleRef, Meta(description="The role.", extra=REQUIRED)] = always(RoleRef)


class ClusterRoleBinding(ApiObject):
    """Gives a cluster role to subjects, everywhere."""

    subjects: Annotated[tuple[Subject, ...], Meta(description="Who gets the role.", extra=ATOMIC)] = ()
    role_ref: Annotated[RoleRef, Meta(description="The cluster role.", extra=REQUIRED)] = always(RoleRef)
