"""What a pod's spec means for running it: its containers in order, and when each is started again."""

from enum import Enum
from typing import Final

from msgspec import Struct

from dray.api.core.containers import Container, ContainerRestartRule, EphemeralContainer
from dray.api.core.pod import Pod
from dray.api.core.podresources import is_sidecar

__all__ = ["ContainerPlan", "PodPlan", "Role", "plan_pod"]

_DEFAULT_GRACE_SECONDS: Final = 30


class Role(Enum):
    """When in a pod's life a container runs."""

    INIT = "before the others, until it has succeeded"
    SIDECAR = "from before the others until after them"
    REGULAR = "the pod's purpose"
    EPHEMERAL = "added later, to look into the pod"


class ContainerPlan(Struct, frozen=True):
    """One container and its part in the pod."""

    spec: Container | EphemeralContainer
    role: Role
    restart_policy: str
    """Always, OnFailure or Never; the container's own, or else the pod's."""

    @property
    def name(self) -> str:
        """Unique in the pod."""
        return self.spec.name

    def restarts_after(self, exit_code: int) -> bool:
        """Whether the container is started again after it ended so. Rules come before the policy."""
        if any(_matches(rule, exit_code) for rule in self.spec.restart_policy_rules):
            return True
        if self.restart_policy == "Never":
            return False
        return self.restart_policy == "Always" or exit_code != 0


class PodPlan(Struct, frozen=True):
    """All that matters of a pod's spec for its course."""

    containers: tuple[ContainerPlan, ...]
    """In the order in which they are started."""
    has_claims: bool
    grace_seconds: int
    deadline_seconds: int | None
    """How long the pod may be active, if there is a limit."""

    def select(self, *roles: Role) -> list[ContainerPlan]:
        """The containers with one of these parts, in order."""
        return [each for each in self.containers if each.role in roles]

    def get(self, name: str) -> ContainerPlan:
        """The container of that name. Raises KeyError."""
        for each in self.containers:
            if each.name == name:
                return each
        raise KeyError(name)


def plan_pod(pod: Pod) -> PodPlan:
    """Read a pod's spec. Ephemeral containers come and go with the spec, so plan again when it changes."""
    spec = pod.spec
    grace = spec.termination_grace_period_seconds
    return PodPlan(
        containers=(
            *(_plan_init(each, spec.restart_policy) for each in spec.init_containers),
            *(
                ContainerPlan(each, Role.REGULAR, each.restart_policy or spec.restart_policy)
                for each in spec.containers
            ),
            *(ContainerPlan(each, Role.EPHEMERAL, "Never") for each in spec.ephemeral_containers),
        ),
        has_claims=bool(spec.resource_claims) or pod.status.extended_resource_claim_status is not None,
        grace_seconds=_DEFAULT_GRACE_SECONDS if grace is None else grace,
        deadline_seconds=spec.active_deadline_seconds,
    )


def _plan_init(container: Container, pod_policy: str) -> ContainerPlan:
    if is_sidecar(container):
        return ContainerPlan(container, Role.SIDECAR, "Always")
    # An init container that has succeeded is done, whatever the policy says.
    policy = container.restart_policy or pod_policy
    return ContainerPlan(container, Role.INIT, "Never" if policy == "Never" else "OnFailure")


def _matches(rule: ContainerRestartRule, exit_code: int) -> bool:
    codes = rule.exit_codes
    return codes is not None and (exit_code in codes.values) == (codes.operator == "In")
