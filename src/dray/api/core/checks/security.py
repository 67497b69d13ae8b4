"""Rights and identities that contradict each other or cannot exist."""

import re
from collections.abc import Iterator, Sequence

from dray.api.core.checks.naming import INT32_MAX, choice_faults, required_choice_faults
from dray.api.core.podspec import PodSpec
from dray.api.core.security import AppArmorProfile, PodSecurityContext, SeccompProfile, SecurityContext, Sysctl
from dray.errors import FieldError, duplicate, invalid, required
from dray.values.fieldpath import FieldPath

__all__ = ["container_security_faults", "pod_security_faults"]

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL_MAX_LENGTH = 253
_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL_PATTERN = rf"^({_SYSCTL_SEGMENT}[\./])*{_SYSCTL_SEGMENT}$"
_SYSCTL = re.compile(_SYSCTL_PATTERN.removeprefix("^").removesuffix("$"))


def _identity_faults(number: int | None, path: FieldPath) -> Iterator[FieldError]:
    if number is not None and not 0 <= number <= INT32_MAX:
        yield invalid(path, number, f"must be between 0 and {INT32_MAX}, inclusive")


def _profile_faults(
    profile: SeccompProfile | AppArmorProfile | None, word: str, path: FieldPath
) -> Iterator[FieldError]:
    if profile is None:
        return
    kind, local = profile.type, profile.localhost_profile
    if kind == "Localhost":
        if not local:
            yield required(path / "localhostProfile", f"must be set when {word} type is Localhost")
    elif local is not None:
        yield invalid(path / "localhostProfile", local, f"can only be set when {word} type is Localhost")
    yield from required_choice_faults(kind, _PROFILES, path / "type")


def container_security_faults(rights: SecurityContext | None, path: FieldPath) -> Iterator[FieldError]:
    """Rights of one container."""
    if rights is None:
        return
    yield from _identity_faults(rights.run_as_user, path / "runAsUser")
    yield from _identity_faults(rights.run_as_group, path / "runAsGroup")
    if rights.proc_mount is not None:
        yield from choice_faults(rights.proc_mount, ("Default", "Unmasked"), path / "procMount")
    yield from _profile_faults(rights.seccomp_profile, "seccomp", path / "seccompProfile")
    yield from _profile_faults(rights.app_armor_profile, "AppArmor", path / "appArmorProfile")
    if rights.allow_privilege_escalation is False:
        added = rights.capabilities.add if rights.capabilities is not None else ()
        start = "cannot set `allowPrivilegeEscalation` to false and"
        if rights.privileged:
            yield invalid(path, rights, f"{start} `privileged` to true")
        if "CAP_SYS_ADMIN" in added:
            yield invalid(path, rights, f"{start} `capabilities.Add` CAP_SYS_ADMIN")


def pod_security_faults(spec: PodSpec, path: FieldPath) -> Iterator[FieldError]:
    """Rights of the pod, and what it shares with the host."""
    at = path / "securityContext"
    if spec.share_process_namespace and spec.host_pid:
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(path / "shareProcessNamespace", value=True, detail=detail)
    rights = spec.security_context
    if rights is not None:
        yield from _pod_rights_faults(rights, at)


def _pod_rights_faults(rights: PodSecurityContext, path: FieldPath) -> Iterator[FieldError]:
    yield from _identity_faults(rights.fs_group, path / "fsGroup")
    yield from _identity_faults(rights.run_as_user, path / "runAsUser")
    yield from _identity_faults(rights.run_as_group, path / "runAsGroup")
    for index, group in enumerate(rights.supplemental_groups):
        yield from _identity_faults(group, path / "supplementalGroups" / index)
    yield from _sysctl_faults(rights.sysctls, path / "sysctls")
    if rights.fs_group_change_policy is not None:
        yield from choice_faults(
            rights.fs_group_change_policy, ("Always", "OnRootMismatch"), path / "fsGroupChangePolicy"
        )
    if rights.supplemental_groups_policy is not None:
        at = path / "supplementalGroupsPolicy"
        yield from choice_faults(rights.supplemental_groups_policy, ("Merge", "Strict"), at)
    yield from _profile_faults(rights.seccomp_profile, "seccomp", path / "seccompProfile")
    yield from _profile_faults(rights.app_armor_profile, "AppArmor", path / "appArmorProfile")


def _sysctl_faults(sysctls: Sequence[Sysctl], path: FieldPath) -> Iterator[FieldError]:
    names: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        at = path / index / "name"
        if not sysctl.name:
            yield required(at)
        elif len(sysctl.name) > _SYSCTL_MAX_LENGTH or not _SYSCTL.fullmatch(sysctl.name):
            rule = f"must have at most {_SYSCTL_MAX_LENGTH} characters and match regex {_SYSCTL_PATTERN}"
            yield invalid(at, sysctl.name, rule)
        elif sysctl.name.replace("/", ".") in names:
            yield duplicate(at, sysctl.name)
        names.add(sysctl.name.replace("/", "."))
