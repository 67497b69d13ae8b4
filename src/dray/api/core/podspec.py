"""What a user wants of a pod.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta, field

from dray.api.core.affinity import Affinity, TopologySpreadConstraint
from dray.api.core.containers import Container, EphemeralContainer
from dray.api.core.references import LocalObjectReference
from dray.api.core.resources import ResourceRequirements
from dray.api.core.security import PodSecurityContext
from dray.api.core.taints import Toleration
from dray.api.core.volumes import Volume
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, Int64, always, list_map
from dray.values.quantity import Quantity

__all__ = [
    "EvictionResponder",
    "HostAlias",
    "PodDNSConfig",
    "PodDNSConfigOption",
    "PodOS",
    "PodReadinessGate",
    "PodResourceClaim",
    "PodSchedulingGate",
    "PodSchedulingGroup",
    "PodSpec",
]


class HostAlias(ApiStruct):
    """A line of the pod's /etc/hosts."""

    ip: Annotated[str, Meta(description="Address.", extra=REQUIRED)] = always(str)
    hostnames: Annotated[tuple[str, ...], Meta(description="Names of the address.", extra=ATOMIC)] = ()


class PodDNSConfigOption(ApiStruct):
    """An option of the resolver."""

    name: Annotated[str, Meta(description="Name of the option.")] = ""
    value: Annotated[str | None, Meta(description="Value of the option.")] = None


class PodDNSConfig(ApiStruct):
    """Resolver settings, on top of what dnsPolicy gives."""

    nameservers: Annotated[tuple[str, ...], Meta(description="Addresses of name servers.", extra=ATOMIC)] = ()
    searches: Annotated[tuple[str, ...], Meta(description="Domains to search.", extra=ATOMIC)] = ()
    options: Annotated[tuple[PodDNSConfigOption, ...], Meta(description="Options of the resolver.", extra=ATOMIC)] = ()


class PodReadinessGate(ApiStruct):
    """A condition that must be True for the pod to count as ready."""

    condition_type: Annotated[str, Meta(description="Type of the condition.", extra=REQUIRED)] = always(str)


class PodSchedulingGate(ApiStruct):
    """Something that must be taken away before the pod is scheduled."""

    name: Annotated[str, Meta(description="Name of the gate.", extra=REQUIRED)] = always(str)


class PodSchedulingGroup(ApiStruct):
    """The group of pods that is scheduled together."""

    schema_extensions: ClassVar[Mapping[str, object]] = {
        "x-kubernetes-unions": [{"fields-to-discriminateBy": {"podGroupName": "PodGroupName"}}]
    }

    pod_group_name: Annotated[str | None, Meta(description="Name of the PodGroup.")] = None


class PodOS(ApiStruct):
    """Operating system of the containers."""

    name: Annotated[str, Meta(description="linux or windows.", extra=REQUIRED)] = always(str)


class EvictionResponder(ApiStruct):
    """Who is told when the pod is asked to leave."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    name: Annotated[str, Meta(description="Name of the responder.", extra=REQUIRED)] = always(str)
    priority: Annotated[
        Int32 | None, Meta(description="Responders of higher priority are told first.", extra=REQUIRED)
    ] = None


class PodResourceClaim(ApiStruct):
    """A claim for devices that containers of the pod can name.

    Exactly one of `resource_claim_name` and `resource_claim_template_name` is set.
    """

    name: Annotated[
        str,
        Meta(description="Name within the pod, by which containers refer to the claim; a DNS label.", extra=REQUIRED),
    ] = always(str)
    resource_claim_name: Annotated[
        str | None, Meta(description="A ResourceClaim in the pod's namespace, which other pods may use too.")
    ] = None
    resource_claim_template_name: Annotated[
        str | None,
        Meta(
            description="A ResourceClaimTemplate in the pod's namespace, from which a claim for this pod alone is made."
        ),
    ] = None


class PodSpec(ApiStruct):
    """What a user wants of a pod.

    Few fields may change after creation: images, tolerations (added), scheduling gates (removed) and
    `active_deadline_seconds` (lowered).
    """

    volumes: Annotated[
        tuple[Volume, ...],
        Meta(
            description="Folders and devices that containers can mount.",
            extra=list_map("name", patch="merge,retainKeys"),
        ),
    ] = ()
    containers: Annotated[
        tuple[Container, ...],
        Meta(description="Containers that run side by side; there is at least one.", extra=REQUIRED | list_map("name")),
    ] = always(lambda: ())
    restart_policy: Annotated[
        str,
        Meta(
            description="When containers that have ended are started again: Always, OnFailure or Never.",
            extra={
                "enum": (
                    "Always",
                    "Never",
                    "OnFailure",
                )
            },
        ),
    ] = ""
    termination_grace_period_seconds: Annotated[
        Int64 | None, Meta(description="Seconds from the request to stop until containers are killed.")
    ] = None
    active_deadline_seconds: Annotated[
        Int64 | None, Meta(description="Seconds after which a running pod is failed.")
    ] = None
    dns_policy: Annotated[
        str,
        Meta(
            description="Where the resolver settings come from.",
            extra={
                "enum": (
                    "ClusterFirst",
                    "ClusterFirstWithHostNet",
                    "Default",
                    "None",
                )
            },
        ),
    ] = ""
    node_selector: Annotated[
        Mapping[str, str],
        Meta(description="Labels a node must have for the pod to be placed on it.", extra={"map": "atomic"}),
    ] = {}
    service_account_name: Annotated[str, Meta(description="Service account the pod acts as.")] = ""
    service_account: Annotated[str, Meta(description="Old name of serviceAccountName.")] = ""
    node_name: Annotated[str, Meta(description="Node the pod is bound to; set by the scheduler.")] = ""
    host_network: Annotated[bool, Meta(description="Whether the pod shares the network of the host.")] = False
    host_pid: Annotated[bool, Meta(description="Whether the pod shares the processes of the host.")] = field(
        default=False, name="hostPID"
    )
    host_ipc: Annotated[bool, Meta(description="Whether the pod shares the IPC namespace of the host.")] = field(
        default=False, name="hostIPC"
    )
    security_context: Annotated[PodSecurityContext | None, Meta(description="Rights of all containers.")] = None
    image_pull_secrets: Annotated[
        tuple[LocalObjectReference, ...],
        Meta(description="Secrets with credentials for registries.", extra=list_map("name")),
    ] = ()
    hostname: Annotated[str, Meta(description="Host name of the pod; absent is its name.")] = ""
    subdomain: Annotated[str, Meta(description="Subdomain of the pod in the DNS of the cluster.")] = ""
    affinity: Annotated[Affinity | None, Meta(description="Rules about the node and about other pods.")] = None
    scheduler_name: Annotated[str, Meta(description="Scheduler that places the pod.")] = ""
    init_containers: Annotated[
        tuple[Container, ...],
        Meta(
            description="Containers that run one after the other before the rest; those with restartPolicy Always"
            " keep running.",
            extra=list_map("name"),
        ),
    ] = ()
    automount_service_account_token: Annotated[
        bool | None,
        Meta(description="Whether a token of the service account is mounted; absent is the account's setting."),
    ] = None
    tolerations: Annotated[
        tuple[Toleration, ...], Meta(description="Taints the pod runs in spite of.", extra=ATOMIC)
    ] = ()
    host_aliases: Annotated[tuple[HostAlias, ...], Meta(description="Lines of /etc/hosts.", extra=list_map("ip"))] = ()
    priority_class_name: Annotated[str, Meta(description="Class that gives the pod its priority.")] = ""
    priority: Annotated[Int32 | None, Meta(description="Priority of the pod; set at admission from its class.")] = None
    dns_config: Annotated[PodDNSConfig | None, Meta(description="Resolver settings on top of dnsPolicy.")] = None
    share_process_namespace: Annotated[
        bool | None, Meta(description="Whether the containers see each other's processes.")
    ] = None
    readiness_gates: Annotated[
        tuple[PodReadinessGate, ...],
        Meta(description="Conditions that must be True for the pod to count as ready.", extra=ATOMIC),
    ] = ()
    runtime_class_name: Annotated[str | None, Meta(description="RuntimeClass the containers run with.")] = None
    enable_service_links: Annotated[
        bool | None, Meta(description="Whether services appear as environment variables.")
    ] = None
    preemption_policy: Annotated[
        str | None,
        Meta(
            description="Whether the pod may push pods of lower priority off a node.",
            extra={
                "enum": (
                    "Never",
                    "PreemptLowerPriority",
                )
            },
        ),
    ] = None
    overhead: Annotated[
        Mapping[str, Quantity],
        Meta(description="Amounts the pod uses besides its containers; set from the RuntimeClass."),
    ] = {}
    topology_spread_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...],
        Meta(description="How evenly pods like this are spread.", extra=list_map("topologyKey", "whenUnsatisfiable")),
    ] = ()
    ephemeral_containers: Annotated[
        tuple[EphemeralContainer, ...],
        Meta(
            description="Containers added to look into the running pod; set through the subresource alone.",
            extra=list_map("name"),
        ),
    ] = ()
    set_hostname_as_fqdn: Annotated[bool | None, Meta(description="Whether the full domain name is the host name.")] = (
        field(default=None, name="setHostnameAsFQDN")
    )
    os: Annotated[PodOS | None, Meta(description="Operating system of the containers.")] = None
    host_users: Annotated[
        bool | None, Meta(description="Whether the pod shares the user ids of the host; absent is yes.")
    ] = None
    scheduling_gates: Annotated[
        tuple[PodSchedulingGate, ...],
        Meta(description="While there is any, the pod is not scheduled.", extra=list_map("name")),
    ] = ()
    resource_claims: Annotated[
        tuple[PodResourceClaim, ...],
        Meta(
            description="Claims for devices that the containers can refer to by name.",
            extra=list_map("name", patch="merge,retainKeys"),
        ),
    ] = ()
    resources: Annotated[ResourceRequirements | None, Meta(description="Amounts for all containers together.")] = None
    hostname_override: Annotated[
        str | None, Meta(description="Host name instead of the one made from hostname and subdomain.")
    ] = None
    scheduling_group: Annotated[
        PodSchedulingGroup | None, Meta(description="Group of pods that is scheduled together.")
    ] = None
    eviction_responders: Annotated[
        tuple[EvictionResponder, ...],
        Meta(description="Who is told when the pod is asked to leave.", extra=list_map("name")),
    ] = ()
