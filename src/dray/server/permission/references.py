"""What pods refer to by name, and which nodes may therefore read it."""

from collections.abc import Iterable, Iterator

from dray.api.core.containers import Container, EphemeralContainer
from dray.api.core.pod import Pod
from dray.api.core.volumes import Volume

__all__ = ["MIRROR_ANNOTATION", "claim_names", "config_map_names", "secret_names", "uses_account", "volume_claim_names"]

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
"""Marks the image of a pod that a node runs of its own accord. It gives the node no access to anything."""


def uses_account(pod: Pod, name: str) -> bool:
    """Whether the pod acts as this service account."""
    return pod.spec.service_account_name == name


def claim_names(pod: Pod) -> Iterator[str]:
    """Resource claims of a pod: named by it, generated for it, made for its extended resources."""
    for entry in pod.spec.resource_claims:
        if entry.resource_claim_name:
            yield entry.resource_claim_name
    for status in pod.status.resource_claim_statuses:
        if status.resource_claim_name:
            yield status.resource_claim_name
    if pod.status.extended_resource_claim_status is not None:
        yield pod.status.extended_resource_claim_status.resource_claim_name


def volume_claim_names(pod: Pod) -> Iterator[str]:
    """Persistent volume claims of a pod: named by it, or generated for it."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name
        if volume.ephemeral is not None:
            yield f"{pod.metadata.name}-{volume.name}"


def config_map_names(pod: Pod) -> Iterator[str]:
    """Config maps that variables and volumes of a pod are taken from."""
    for container in _containers(pod):
        for source in container.env_from:
            if source.config_map_ref is not None:
                yield source.config_map_ref.name
        for variable in container.env:
            if variable.value_from is not None and variable.value_from.config_map_key_ref is not None:
                yield variable.value_from.config_map_key_ref.name
    for volume in pod.spec.volumes:
        if volume.config_map is not None:
            yield volume.config_map.name
        for projection in volume.projected.sources if volume.projected else ():
            if projection.config_map is not None:
                yield projection.config_map.name


def secret_names(pod: Pod) -> Iterator[str]:
    """Secrets that images are pulled with, and that variables and volumes of a pod are taken from."""
    for reference in pod.spec.image_pull_secrets:
        yield reference.name
    for container in _containers(pod):
        for source in container.env_from:
            if source.secret_ref is not None:
                yield source.secret_ref.name
        for variable in container.env:
            if variable.value_from is not None and variable.value_from.secret_key_ref is not None:
                yield variable.value_from.secret_key_ref.name
    for volume in pod.spec.volumes:
        yield from _secrets_of_volume(volume)


def _containers(pod: Pod) -> Iterable[Container | EphemeralContainer]:
    return (*pod.spec.init_containers, *pod.spec.containers, *pod.spec.ephemeral_containers)


def _secrets_of_volume(volume: Volume) -> Iterator[str]:
    if volume.secret is not None:
        yield volume.secret.secret_name
    for projection in volume.projected.sources if volume.projected else ():
        if projection.secret is not None:
            yield projection.secret.name
    if volume.azure_file is not None:
        yield volume.azure_file.secret_name
    if volume.csi is not None and volume.csi.node_publish_secret_ref is not None:
        yield volume.csi.node_publish_secret_ref.name
    with_secret = (volume.cephfs, volume.cinder, volume.flex_volume, volume.iscsi)
    for source in (*with_secret, volume.rbd, volume.scaleio, volume.storageos):
        if source is not None and source.secret_ref is not None:
            yield source.secret_ref.name
