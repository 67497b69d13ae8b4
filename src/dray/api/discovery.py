"""Discovery: which groups, versions and resources there are, in the plain form and in the aggregated one.

Both are asked for: kubectl prefers the aggregated form, but `drain` and `auth can-i` read the plain lists.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping

from dray.api.kind import Subresource
from dray.api.meta import ListMeta, ObjectMeta
from dray.api.registry import AnyKind
from dray.api.struct import ApiStruct, always

__all__ = [
    "APIGroup",
    "APIGroupDiscovery",
    "APIGroupDiscoveryList",
    "APIGroupList",
    "APIResource",
    "APIResourceDiscovery",
    "APIResourceList",
    "APISubresourceDiscovery",
    "APIVersionDiscovery",
    "GroupVersion",
    "ResponseKind",
    "aggregate_groups",
    "hash_storage_version",
    "list_groups",
    "list_resources",
]


class APIResource(ApiStruct):
    """One resource, or one subresource, of a group version."""

    name: str = always(str)
    singular_name: str = always(str)
    namespaced: bool = always(bool)
    group: str = ""
    version: str = ""
    kind: str = always(str)
    verbs: tuple[str, ...] = always(lambda: ())
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    storage_version_hash: str = ""


class APIResourceList(ApiStruct):
    """The resources of one group version."""

    kind: str = always(lambda: "APIResourceList")
    api_version: str = ""
    group_version: str = always(str)
    resources: tuple[APIResource, ...] = always(lambda: ())


class GroupVersion(ApiStruct):
    """A version of a group, by both of its names."""

    group_version: str = always(str)
    version: str = always(str)


class APIGroup(ApiStruct):
    """A group and its versions, best first."""

    kind: str = ""
    api_version: str = ""
    name: str = always(str)
    versions: tuple[GroupVersion, ...] = always(lambda: ())
    preferred_version: GroupVersion = always(GroupVersion)


class APIGroupList(ApiStruct):
    """All groups but the core one."""

    kind: str = always(lambda: "APIGroupList")
    api_version: str = always(lambda: "v1")
    groups: tuple[APIGroup, ...] = always(lambda: ())


class ResponseKind(ApiStruct):
    """What a resource answers with; group and version are empty where they are those around it."""

    group: str = always(str)
    version: str = always(str)
    kind: str = always(str)


class APISubresourceDiscovery(ApiStruct):
    """One subresource."""

    subresource: str = always(str)
    response_kind: ResponseKind = always(ResponseKind)
    verbs: tuple[str, ...] = always(lambda: ())


class APIResourceDiscovery(ApiStruct):
    """One resource with its subresources."""

    resource: str = always(str)
    response_kind: ResponseKind = always(ResponseKind)
    scope: str = always(str)
    singular_resource: str = always(str)
    verbs: tuple[str, ...] = always(lambda: ())
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[APISubresourceDiscovery, ...] = ()


class APIVersionDiscovery(ApiStruct):
    """The resources of one version."""

    version: str = always(str)
    resources: tuple[APIResourceDiscovery, ...] = always(lambda: ())
    freshness: str = always(lambda: "Current")


class APIGroupDiscovery(ApiStruct):
    """One group; the core group has no name."""

    metadata: ObjectMeta = always(ObjectMeta)
    versions: tuple[APIVersionDiscovery, ...] = always(lambda: ())


class APIGroupDiscoveryList(ApiStruct):
    """Groups with everything in them, in one document."""

    kind: str = always(lambda: "APIGroupDiscoveryList")
    api_version: str = always(lambda: "apidiscovery.k8s.io/v2")
    metadata: ListMeta = always(ListMeta)
    items: tuple[APIGroupDiscovery, ...] = always(lambda: ())


def hash_storage_version(kind: AnyKind) -> str:
    """What clients compare to see that objects are stored in another version; empty where nothing is stored."""
    if "watch" not in kind.verbs:
        return ""
    group = kind.group if kind.storage_group is None else kind.storage_group
    digest = hashlib.sha256(f"{group}/{kind.storage_version}/{kind.name}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def list_resources(kinds: Iterable[AnyKind], group: str, version: str) -> APIResourceList:
    """The plain list of one group version, which is empty if nothing is served there."""
    resources: list[APIResource] = []
    for kind in _served(kinds, group, version):
        resources.append(
            APIResource(
                name=kind.plural,
                singular_name=kind.singular,
                namespaced=kind.is_namespaced,
                kind=kind.name,
                verbs=kind.verbs,
                short_names=kind.short_names,
                categories=kind.categories,
                storage_version_hash=hash_storage_version(kind),
            )
        )
        resources += [_describe_subresource(kind, version, each) for each in _sorted_subresources(kind)]
    return APIResourceList(
        api_version="v1" if group else "",
        group_version=f"{group}/{version}" if group else version,
        resources=tuple(resources),
    )


def list_groups(kinds: Iterable[AnyKind]) -> APIGroupList:
    """The plain list of groups, in the order in which the kinds are registered."""
    groups: list[APIGroup] = []
    for group, versions in _versions_by_group(kinds).items():
        if group:
            listed = tuple(GroupVersion(group_version=f"{group}/{each}", version=each) for each in versions)
            groups.append(APIGroup(name=group, versions=listed, preferred_version=listed[0]))
    return APIGroupList(groups=tuple(groups))


def aggregate_groups(kinds: Iterable[AnyKind], *, core: bool) -> APIGroupDiscoveryList:
    """The aggregated form: the core group alone, or all the others."""
    kinds = tuple(kinds)
    items = tuple(
        APIGroupDiscovery(
            metadata=ObjectMeta(name=group),
            versions=tuple(
                APIVersionDiscovery(
                    version=version,
                    resources=tuple(_aggregate(kind, version) for kind in _served(kinds, group, version)),
                )
                for version in versions
            ),
        )
        for group, versions in _versions_by_group(kinds).items()
        if core is (group == "")
    )
    return APIGroupDiscoveryList(items=items)


def _aggregate(kind: AnyKind, version: str) -> APIResourceDiscovery:
    return APIResourceDiscovery(
        resource=kind.plural,
        response_kind=ResponseKind(kind=kind.name),
        scope=kind.scope,
        singular_resource=kind.singular,
        verbs=kind.verbs,
        short_names=kind.short_names,
        categories=kind.categories,
        subresources=tuple(
            APISubresourceDiscovery(
                subresource=each.name,
                response_kind=_name_body(kind, version, each),
                verbs=each.verbs,
            )
            for each in _sorted_subresources(kind)
        ),
    )


def _describe_subresource(kind: AnyKind, version: str, subresource: Subresource) -> APIResource:
    body = _name_body(kind, version, subresource)
    return APIResource(
        name=f"{kind.plural}/{subresource.name}",
        namespaced=kind.is_namespaced,
        group=body.group,
        version=body.version,
        kind=body.kind,
        verbs=subresource.verbs,
    )


def _name_body(kind: AnyKind, version: str, subresource: Subresource) -> ResponseKind:
    """What a subresource takes and returns; its group and version only where they are not those of the object."""
    if (subresource.group, subresource.version) in (("", ""), (kind.group, version)):
        return ResponseKind(kind=subresource.kind or kind.name)
    return ResponseKind(group=subresource.group, version=subresource.version, kind=subresource.kind)


def _sorted_subresources(kind: AnyKind) -> list[Subresource]:
    return sorted(kind.subresources, key=lambda each: each.name)


def _served(kinds: Iterable[AnyKind], group: str, version: str) -> list[AnyKind]:
    served = (kind for kind in kinds if kind.group == group and kind.find_version(version) is not None)
    return sorted(served, key=lambda kind: kind.plural)


def _versions_by_group(kinds: Iterable[AnyKind]) -> Mapping[str, list[str]]:
    """Versions of each group, best first: as its kinds prefer them, stable ones before others."""
    versions: dict[str, list[str]] = {}
    for kind in kinds:
        known = versions.setdefault(kind.group, [])
        known += [version.name for version in kind.versions if version.name not in known]
    return {group: sorted(known, key=_rank_version) for group, known in versions.items()}


def _rank_version(version: str) -> tuple[int, tuple[int, ...]]:
    """`v2` before `v1` before `v1beta2` before `v1beta1` before `v1alpha3`."""
    stage = next((rank for rank, word in enumerate(("alpha", "beta")) if word in version), 2)
    numbers = [int(part) for part in version.replace("alpha", ".").replace("beta", ".").lstrip("v").split(".")]
    return -stage, tuple(-number for number in numbers)
