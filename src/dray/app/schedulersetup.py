"""What a scheduler is told at start: from a configuration file, or Kubernetes' defaults."""

import math
import socket
from collections.abc import Set
from pathlib import Path
from typing import Final

from dray.api.registry import AnyKind
from dray.api.yamltext import YamlError, parse_yaml_documents
from dray.client.leading import Candidacy
from dray.errors import DrayError
from dray.scheduler.configuration import ConfigurationError, SchedulerConfiguration, decode_configuration
from dray.scheduler.core.queue import QueuePace
from dray.scheduler.loop import SchedulerOptions

__all__ = ["SchedulerFileError", "make_candidacy", "make_scheduler_options", "read_scheduler_configuration"]


_FORM: Final = "apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles"
"""What such a file has."""


class SchedulerFileError(DrayError):
    """A scheduler configuration file cannot be used; the message says everything that is wrong with it."""

    def __init__(self, file: Path, message: str, *, hint: str = "") -> None:
        super().__init__(f"{file}: {message}")
        self.hint = hint


def read_scheduler_configuration(file: Path | None) -> SchedulerConfiguration:
    """What a file says, or the defaults. Raises SchedulerFileError."""
    if file is None:
        return SchedulerConfiguration()
    try:
        documents = list(parse_yaml_documents(file.read_text(encoding="utf-8")))
        if len(documents) != 1:
            raise SchedulerFileError(file, f"has {len(documents)} documents, and a configuration is one", hint=_FORM)
        return decode_configuration(documents[0].json)
    except OSError as fault:
        raise SchedulerFileError(file, fault.strerror or "cannot be read", hint="check the path") from fault
    except UnicodeDecodeError as fault:
        raise SchedulerFileError(file, "is not text in UTF-8", hint=_FORM) from fault
    except YamlError as fault:
        raise SchedulerFileError(file, f"line {fault.line}: {fault.message}", hint=_FORM) from fault
    except ConfigurationError as fault:
        hint = next((each.hint for each in fault.faults if each.hint), "")
        raise SchedulerFileError(file, "; ".join(map(str, fault.faults)), hint=hint) from fault


def make_scheduler_options(
    configuration: SchedulerConfiguration, *, checks_itself: bool = False, absent: Set[AnyKind] = frozenset()
) -> SchedulerOptions:
    """How a scheduler works by a configuration, on a server that does not serve the kinds in `absent`."""
    pace = QueuePace(
        first_backoff=float(configuration.initial_backoff_seconds),
        longest_backoff=float(configuration.max_backoff_seconds),
    )
    return SchedulerOptions(
        profiles=configuration.profiles,
        pace=pace,
        instance=socket.gethostname(),
        self_check=checks_itself,
        absent=absent,
    )


def make_candidacy(configuration: SchedulerConfiguration, identity: str) -> Candidacy | None:
    """By which lease one of several schedulers works; None where they are not to agree."""
    election = configuration.leader_election
    if not election.is_enabled:
        return None
    return Candidacy(
        name=election.lease_name,
        namespace=election.lease_namespace,
        identity=identity,
        lease_seconds=math.ceil(election.lease_seconds),
        renew_seconds=election.renew_seconds,
        retry_seconds=election.retry_seconds,
    )
