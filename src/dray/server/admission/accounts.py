"""Service accounts of pods: the account must be there, and containers find its token in a volume."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from dray.api.core.containers import Container, VolumeMount
from dray.api.core.environment import ObjectFieldSelector
from dray.api.core.kinds import SERVICE_ACCOUNT
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.projections import (
    ConfigMapProjection,
    DownwardAPIProjection,
    DownwardAPIVolumeFile,
    KeyToPath,
    ServiceAccountTokenProjection,
    VolumeProjection,
)
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.core.volumes import ProjectedVolumeSource, Volume
from dray.effects.entropy import SUFFIX_ALPHABET
from dray.server.admission.refusals import AccountPending
from dray.server.admission.request import Act, AnyRequest, refuse
from dray.server.ports import View

__all__ = ["DEFAULT_ACCOUNT", "TOKEN_FOLDER", "fill_in_account"]

DEFAULT_ACCOUNT: Final = "default"
"""The account of pods that name none; every namespace has it."""
TOKEN_FOLDER: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where containers find their token, the CA of the API server, and their namespace."""

_MIRROR: Final = "kubernetes.io/config.mirror"
_VOLUME_PREFIX: Final = "kube-api-access-"
_TOKEN_SOURCE: Final = ProjectedVolumeSource(
    sources=(
        VolumeProjection(service_account_token=ServiceAccountTokenProjection(expiration_seconds=3607, path="token")),
        VolumeProjection(
            config_map=ConfigMapProjection(name="kube-root-ca.crt", items=(KeyToPath(key="ca.crt", path="ca.crt"),))
        ),
        VolumeProjection(
            downward_api=DownwardAPIProjection(
                items=(
                    DownwardAPIVolumeFile(
                        path="namespace",
                        field_ref=ObjectFieldSelector(api_version="v1", field_path="metadata.namespace"),
                    ),
                )
            )
        ),
    ),
    default_mode=0o644,
)


def fill_in_account(request: AnyRequest, view: View) -> AnyRequest:
    """Give a new pod its account, the account's registry credentials, and a token unless it wants none."""
    pod = request.new
    if not isinstance(pod, Pod) or request.act is not Act.CREATE or request.subresource:
        return request
    if _MIRROR in pod.metadata.annotations:
        _check_mirror(request, pod.spec)
        return request
    name = pod.spec.service_account_name or DEFAULT_ACCOUNT
    account = view.find(SERVICE_ACCOUNT, request.namespace, name)
    if account is None:
        raise _refuse_missing(request, name)
    spec = replace(pod.spec, service_account_name=name, service_account=name)
    if _wants_token(account, spec):
        spec = _mount_token(spec, _VOLUME_PREFIX + _make_suffix(pod.metadata.uid))
    if not spec.image_pull_secrets:
        spec = replace(spec, image_pull_secrets=account.image_pull_secrets)
    return request.with_new(replace(pod, spec=spec))


def _refuse_missing(request: AnyRequest, name: str) -> Exception:
    account = f"{request.namespace}/{name}"
    refusal = refuse(request, f'error looking up service account {account}: serviceaccount "{name}" not found')
    return AccountPending(refusal.message, refusal.about) if name == DEFAULT_ACCOUNT else refusal


def _check_mirror(request: AnyRequest, spec: PodSpec) -> None:
    """A mirror shows a pod that runs already, so nothing can be given to it."""
    if spec.service_account_name and spec.service_account_name != DEFAULT_ACCOUNT:
        raise refuse(request, "a mirror pod may not reference service accounts")
    for source in _list_sources(spec):
        if source.service_account_token is not None:
            raise refuse(request, "a mirror pod may not use ServiceAccountToken volume projections")


def _list_sources(spec: PodSpec) -> Iterator[VolumeProjection]:
    for volume in spec.volumes:
        yield from volume.projected.sources if volume.projected is not None else ()


def _wants_token(account: ServiceAccount, spec: PodSpec) -> bool:
    """The pod's own word counts first, then the account's; else yes."""
    for choice in (spec.automount_service_account_token, account.automount_service_account_token):
        if choice is not None:
            return choice
    return True


def _make_suffix(uid: str) -> str:
    """Five letters that are as random as the uid, and the same each time for one pod."""
    number = int.from_bytes(sha256(uid.encode()).digest()[:8], "big")
    letters: list[str] = []
    for _ in range(5):
        number, index = divmod(number, len(SUFFIX_ALPHABET))
        letters.append(SUFFIX_ALPHABET[index])
    return "".join(letters)


def _mount_token(spec: PodSpec, fresh_name: str) -> PodSpec:
    """Mount the token where no container has mounted something else; a token volume that is there is used."""
    present = next((each.name for each in spec.volumes if each.name.startswith(_VOLUME_PREFIX)), None)
    mount = VolumeMount(name=present or fresh_name, read_only=True, mount_path=TOKEN_FOLDER)
    init_containers = tuple(_add_mount(each, mount) for each in spec.init_containers)
    containers = tuple(_add_mount(each, mount) for each in spec.containers)
    if init_containers == spec.init_containers and containers == spec.containers:
        return spec
    volumes = spec.volumes
    if present is None:
        volumes = (*volumes, Volume(name=fresh_name, projected=_TOKEN_SOURCE))
    return replace(spec, volumes=volumes, init_containers=init_containers, containers=containers)


def _add_mount(container: Container, mount: VolumeMount) -> Container:
    if any(each.mount_path == TOKEN_FOLDER for each in container.volume_mounts):
        return container
    return replace(container, volume_mounts=(*container.volume_mounts, mount))
