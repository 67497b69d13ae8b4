"""What a scheduler is told: profiles by scheduler name, waits, and how one of several schedulers is chosen.

Read from the text of a KubeSchedulerConfiguration. Faults are found all at once, each with the path of its field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from dray.api.mending import decode_custom
from dray.errors import (
    DrayError,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from dray.scheduler.configfile import ConfigurationFile, LeaderElectionFile
from dray.scheduler.core.profile import Profile
from dray.scheduler.durations import parse_seconds
from dray.scheduler.filefaults import explain, strict_faults
from dray.scheduler.profiles import ProfileReader
from dray.values.fieldpath import ROOT, FieldPath

__all__ = ["ConfigurationError", "LeaderElection", "SchedulerConfiguration", "decode_configuration"]

API_VERSION, KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"


class ConfigurationError(DrayError):
    """A configuration cannot be used; `faults` has everything that is wrong with it."""

    def __init__(self, faults: Sequence[FieldError]) -> None:
        super().__init__("\n".join(f"{fault}\n  try: {fault.hint}" if fault.hint else str(fault) for fault in faults))
        self.faults = tuple(faults)


class LeaderElection(msgspec.Struct, frozen=True):
    """Whether several schedulers choose one of them, by which lease, and how fast."""

    is_enabled: bool = True
    lease_name: str = "kube-scheduler"
    lease_namespace: str = "kube-system"
    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0


class SchedulerConfiguration(msgspec.Struct, frozen=True):
    """The defaults are Kubernetes'. `kubeconfig` is empty where the file names none."""

    profiles: tuple[Profile, ...] = (Profile(),)
    initial_backoff_seconds: int = 1
    max_backoff_seconds: int = 10
    leader_election: LeaderElection = LeaderElection()
    kubeconfig: str = ""


def decode_configuration(text: bytes) -> SchedulerConfiguration:
    """Read a configuration written in JSON. Raises ConfigurationError; unknown and repeated fields are faults too."""
    try:
        file = msgspec.json.decode(text, type=ConfigurationFile, dec_hook=decode_custom)
    except msgspec.DecodeError as error:
        raise ConfigurationError([explain(error, ROOT)]) from error
    faults = list(strict_faults(ConfigurationFile, text, ROOT))
    faults += _faults_of_whole(file)
    profiles: list[Profile] = []
    for index, each in enumerate(file.profiles):
        reader = ProfileReader(ROOT / "profiles" / index)
        profiles.append(reader.read(each))
        faults += reader.faults
    election, election_faults = _elect(file.leader_election, profiles)
    faults += election_faults
    if faults:
        raise ConfigurationError(faults)
    defaults = SchedulerConfiguration()
    initial, most = file.pod_initial_backoff_seconds, file.pod_max_backoff_seconds
    return SchedulerConfiguration(
        profiles=tuple(profiles) or defaults.profiles,
        initial_backoff_seconds=defaults.initial_backoff_seconds if initial is None else initial,
        max_backoff_seconds=defaults.max_backoff_seconds if most is None else most,
        leader_election=election,
        kubeconfig=file.client_connection.kubeconfig,
    )


def _faults_of_whole(file: ConfigurationFile) -> Iterator[FieldError]:
    if file.api_version != API_VERSION:
        yield not_supported(ROOT / "apiVersion", file.api_version, [API_VERSION])
    if file.kind != KIND:
        yield not_supported(ROOT / "kind", file.kind, [KIND])
    if file.extenders:
        yield forbidden(ROOT / "extenders", "extenders are not supported", hint="remove extenders")
    yield from _backoff_faults(file)
    counts = Counter(each.scheduler_name for each in file.profiles)
    seen: set[str] = set()
    for index, each in enumerate(file.profiles):
        path = ROOT / "profiles" / index / "schedulerName"
        if not each.scheduler_name and len(file.profiles) > 1:
            yield required(path)
        elif counts[each.scheduler_name] > 1 and each.scheduler_name in seen:
            yield duplicate(path, each.scheduler_name)
        seen.add(each.scheduler_name)


def _backoff_faults(file: ConfigurationFile) -> Iterator[FieldError]:
    initial = 1 if file.pod_initial_backoff_seconds is None else file.pod_initial_backoff_seconds
    most = 10 if file.pod_max_backoff_seconds is None else file.pod_max_backoff_seconds
    if initial <= 0:
        yield invalid(ROOT / "podInitialBackoffSeconds", initial, "must be greater than 0")
    # None at all is a setting of its own.
    if most < 0 or 0 < most < initial:
        detail = "must be 0, or greater than or equal to podInitialBackoffSeconds"
        yield invalid(ROOT / "podMaxBackoffSeconds", most, detail)


def _name_lease(profiles: Sequence[Profile]) -> str:
    """One lease for all that place pods of the same scheduler name: with another name, kube-scheduler works beside."""
    default = LeaderElection().lease_name
    names = [each.scheduler_name for each in profiles]
    return default if not names or Profile().scheduler_name in names else names[0]


def _elect(file: LeaderElectionFile, profiles: Sequence[Profile]) -> tuple[LeaderElection, list[FieldError]]:
    path = ROOT / "leaderElection"
    faults: list[FieldError] = []
    defaults = LeaderElection()

    def seconds(name: str, text: str | None, default: float) -> float:
        try:
            return default if text is None else parse_seconds(text)
        except ValueError as error:
            faults.append(invalid(path / name, text, str(error)))
            return default

    election = LeaderElection(
        is_enabled=file.leader_elect is not False,
        lease_name=file.resource_name or _name_lease(profiles),
        lease_namespace=file.resource_namespace or defaults.lease_namespace,
        lease_seconds=seconds("leaseDuration", file.lease_duration, defaults.lease_seconds),
        renew_seconds=seconds("renewDeadline", file.renew_deadline, defaults.renew_seconds),
        retry_seconds=seconds("retryPeriod", file.retry_period, defaults.retry_seconds),
    )
    if file.resource_lock not in ("", "leases"):
        faults.append(not_supported(path / "resourceLock", file.resource_lock, ["leases"]))
    if not faults and election.is_enabled:
        faults += _election_faults(election, path)
    return election, faults


def _election_faults(election: LeaderElection, path: FieldPath) -> Iterator[FieldError]:
    if election.retry_seconds <= 0:
        yield invalid(path / "retryPeriod", election.retry_seconds, "must be greater than zero")
    if election.renew_seconds <= 1.2 * election.retry_seconds:
        yield invalid(path / "renewDeadline", election.renew_seconds, "must be greater than 1.2 times retryPeriod")
    if election.lease_seconds <= election.renew_seconds:
        yield invalid(path / "leaseDuration", election.lease_seconds, "must be greater than renewDeadline")
