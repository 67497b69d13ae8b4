"""What is wanted of a pod, as a whole."""

import ipaddress
from collections.abc import Iterator, Sequence

from dray.api.core.checks.containers import (
    RESTART_POLICIES,
    Surroundings,
    container_faults,
    ephemeral_container_faults,
    image_space_faults,
    init_container_faults,
)
from dray.api.core.checks.naming import (
    INT32_MAX,
    choice_faults,
    key_faults,
    label_faults,
    labels_faults,
    range_faults,
    required_choice_faults,
    subdomain_faults,
)
from dray.api.core.checks.resources import overhead_faults, pod_resource_faults
from dray.api.core.checks.scheduling import affinity_faults, gate_faults, spread_faults, toleration_faults
from dray.api.core.checks.security import pod_security_faults
from dray.api.core.checks.volumes import volume_faults
from dray.api.core.podspec import HostAlias, PodDNSConfig, PodResourceClaim, PodSpec
from dray.errors import FieldError, duplicate, forbidden, invalid, required
from dray.values.fieldpath import ROOT, FieldPath

__all__ = ["pod_spec_faults", "pod_template_spec_faults"]

_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_SYSTEMS = ("linux", "windows")
_MAX_NAMESERVERS = 3
_MAX_SEARCHES = 32
_IP_RULE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_DEFAULT_GRACE_PERIOD = 30


def pod_spec_faults(spec: PodSpec, path: FieldPath, *, is_mirror: bool = False) -> Iterator[FieldError]:
    """Everything that can be wrong with the spec of a pod.

    `is_mirror`: the pod shows a static pod of a node agent, which cannot have resource claims.
    """
    yield from pod_template_spec_faults(spec, path, is_mirror=is_mirror)
    if not spec.service_account_name:
        yield from _token_without_account_faults(spec, path / "volumes")
    yield from image_space_faults(spec.containers, path / "containers")
    yield from image_space_faults(spec.init_containers, path / "initContainers")


def pod_template_spec_faults(spec: PodSpec, path: FieldPath, *, is_mirror: bool = False) -> Iterator[FieldError]:
    """What templates of pods must fulfil too."""
    faults, volumes = volume_faults(spec.volumes, path / "volumes")
    yield from faults
    yield from _claim_faults(spec.resource_claims, path / "resourceClaims", is_mirror=is_mirror)
    grace_period = spec.termination_grace_period_seconds
    around = Surroundings(
        volumes=volumes,
        claim_names={claim.name for claim in spec.resource_claims if claim.name},
        grace_period=_DEFAULT_GRACE_PERIOD if grace_period is None else grace_period,
    )
    yield from container_faults(spec, around, path / "containers")
    yield from init_container_faults(spec, around, path / "initContainers")
    yield from ephemeral_container_faults(spec, around, path / "ephemeralContainers")
    yield from pod_resource_faults(spec, path)
    yield from _host_network_faults(spec, path)
    yield from required_choice_faults(spec.restart_policy, RESTART_POLICIES, path / "restartPolicy")
    yield from required_choice_faults(spec.dns_policy, _DNS_POLICIES, path / "dnsPolicy")
    yield from labels_faults(spec.node_selector, path / "nodeSelector")
    yield from pod_security_faults(spec, path)
    yield from _placement_faults(spec, path)
    yield from _reference_faults(spec, path)
    yield from _identity_faults(spec, path)


def _claim_faults(claims: Sequence[PodResourceClaim], path: FieldPath, *, is_mirror: bool) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, claim in enumerate(claims):
        at = path / index
        if is_mirror:
            yield forbidden(ROOT, "static pods do not support resource claims")
        if not claim.name:
            yield required(at / "name", hint="give the claim a name for containers to refer to")
        elif claim.name in names:
            yield duplicate(at / "name", claim.name)
        else:
            yield from label_faults(claim.name, at / "name")
            names.add(claim.name)
        yield from _claim_source_faults(claim, at)


def _claim_source_faults(claim: PodResourceClaim, path: FieldPath) -> Iterator[FieldError]:
    ready_made, template = claim.resource_claim_name, claim.resource_claim_template_name
    # Shown as the API server shows it: with the names of its own types.
    shown = {"Name": claim.name, "ResourceClaimName": ready_made, "ResourceClaimTemplateName": template}
    if ready_made is not None and template is not None:
        detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        yield invalid(path, shown, detail)
    elif ready_made is None and template is None:
        yield invalid(path, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
    if ready_made is not None:
        yield from subdomain_faults(ready_made, path / "resourceClaimName")
    if template is not None:
        yield from subdomain_faults(template, path / "resourceClaimTemplateName")


def _host_network_faults(spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    if not spec.host_network:
        return
    for name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            for number, port in enumerate(container.ports):
                if port.host_port != port.container_port:
                    at = path / name / index / "ports" / number / "hostPort"
                    yield invalid(at, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _placement_faults(spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    if spec.affinity is not None:
        yield from affinity_faults(spec.affinity, path / "affinity")
    yield from _dns_faults(spec.dns_config, spec.dns_policy, path / "dnsConfig")
    for index, gate in enumerate(spec.readiness_gates):
        yield from key_faults(gate.condition_type, path / "readinessGates" / index / "conditionType")
    yield from gate_faults(spec.scheduling_gates, path / "schedulingGates")
    yield from spread_faults(spec.topology_spread_constraints, path / "topologySpreadConstraints")


def _dns_faults(config: PodDNSConfig | None, policy: str, path: FieldPath) -> Iterator[FieldError]:
    if policy == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        elif not config.nameservers:
            yield required(path / "nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
    if config is None:
        return
    if len(config.nameservers) > _MAX_NAMESERVERS:
        yield invalid(
            path / "nameservers", config.nameservers, f"must not have more than {_MAX_NAMESERVERS} nameservers"
        )
    for index, address in enumerate(config.nameservers):
        yield from _address_faults(address, path / "nameservers" / index)
    if len(config.searches) > _MAX_SEARCHES:
        yield invalid(path / "searches", config.searches, f"must not have more than {_MAX_SEARCHES} search paths")
    for index, option in enumerate(config.options):
        if not option.name:
            yield required(path / "options" / index, "must not be empty")


def _address_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        yield invalid(path, text, _IP_RULE)


def _reference_faults(spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    if spec.service_account_name:
        yield from subdomain_faults(spec.service_account_name, path / "serviceAccountName")
    if spec.node_name:
        yield from subdomain_faults(spec.node_name, path / "nodeName")
    if spec.active_deadline_seconds is not None:
        yield from range_faults(spec.active_deadline_seconds, 1, INT32_MAX, path / "activeDeadlineSeconds")
    if spec.hostname:
        yield from label_faults(spec.hostname, path / "hostname")
    if spec.subdomain:
        yield from label_faults(spec.subdomain, path / "subdomain")
    yield from toleration_faults(spec.tolerations, path / "tolerations")
    for index, alias in enumerate(spec.host_aliases):
        yield from _host_alias_faults(alias, path / "hostAliases" / index)


def _host_alias_faults(alias: HostAlias, path: FieldPath) -> Iterator[FieldError]:
    yield from _address_faults(alias.ip, path / "ip")
    for name in alias.hostnames:
        yield from subdomain_faults(name, path / "hostnames")


def _identity_faults(spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    if spec.priority_class_name:
        yield from subdomain_faults(spec.priority_class_name, path / "priorityClassName")
    if spec.runtime_class_name is not None:
        yield from subdomain_faults(spec.runtime_class_name, path / "runtimeClassName")
    if spec.preemption_policy is not None:
        yield from choice_faults(spec.preemption_policy, _PREEMPTION_POLICIES, path / "preemptionPolicy")
    yield from overhead_faults(spec.overhead, path / "overhead")
    if spec.os is not None:
        yield from required_choice_faults(spec.os.name, _SYSTEMS, path / "os")
    group = spec.scheduling_group
    if group is not None:
        if group.pod_group_name is None:
            yield invalid(path / "schedulingGroup" / "podGroupName", None, "must specify one of: `podGroupName`")
        else:
            yield from subdomain_faults(group.pod_group_name, path / "schedulingGroup" / "podGroupName")


def _token_without_account_faults(spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    for index, volume in enumerate(spec.volumes):
        for number, source in enumerate(volume.projected.sources if volume.projected is not None else ()):
            if source.service_account_token is not None:
                at = path / index / "projected" / "sources" / number / "serviceAccountToken"
                yield forbidden(at, "must not be specified when serviceAccountName is not set")
