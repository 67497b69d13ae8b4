from pathlib import Path

import pytest

from dray.app.schedulersetup import (
    SchedulerFileError,
    make_candidacy,
    make_scheduler_options,
    read_scheduler_configuration,
)
from dray.scheduler.configuration import LeaderElection, SchedulerConfiguration

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def test_without_a_file_everything_is_as_in_kubernetes() -> None:
    configuration = read_scheduler_configuration(None)
    assert configuration == SchedulerConfiguration()
    candidacy = make_candidacy(configuration, "me")
    assert candidacy is not None
    assert (candidacy.name, candidacy.namespace, candidacy.identity) == ("kube-scheduler", "kube-system", "me")
    assert (candidacy.lease_seconds, candidacy.renew_seconds, candidacy.retry_seconds) == (15, 10.0, 2.0)


def test_what_a_file_says_is_what_the_scheduler_is_told(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(f"{HEAD}podMaxBackoffSeconds: 3\nprofiles: [{{schedulerName: mine}}]\n")
    options = make_scheduler_options(read_scheduler_configuration(file), checks_itself=True)
    assert [each.scheduler_name for each in options.profiles] == ["mine"]
    assert (options.pace.first_backoff, options.pace.longest_backoff) == (1.0, 3.0)
    assert options.self_check


def test_schedulers_that_are_not_to_agree_have_no_lease() -> None:
    configuration = SchedulerConfiguration(leader_election=LeaderElection(is_enabled=False))
    assert make_candidacy(configuration, "me") is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        (b"\xff", "is not text"),
        (b"kind: [", "line 1: not YAML"),
        (b"", "has 0 documents"),
        (f"{HEAD}---\n{HEAD}".encode(), "has 2 documents"),
        (b"kind: Pod\n", "kind: Unsupported value"),
        (f"{HEAD}profile: []\n".encode(), "profile"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_is_wrong(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "scheduler.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SchedulerFileError, match=problem) as refusal:
        read_scheduler_configuration(file)
    assert str(refusal.value).startswith(f"{file}: ")
