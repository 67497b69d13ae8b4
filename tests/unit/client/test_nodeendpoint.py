from urllib.parse import parse_qs, urlsplit

import pytest

from dray.client.nodeendpoint import format_command_url, format_log_url, parse_command_url, parse_log_url
from dray.client.port import Command, ContainerAddress, LogOptions
from dray.errors import BadRequest, NotFound
from dray.values.times import Time

POD = ContainerAddress("node-a", "default", "web-0", "uid-1", "app")
PLACE = ContainerAddress("node-a", "default", "web-0", "", "app")


@pytest.mark.parametrize(
    "options",
    [
        LogOptions(),
        LogOptions(follow=True, previous=True, timestamps=True),
        LogOptions(tail_lines=0, since_seconds=30, limit_bytes=1024),
        LogOptions(since_time=Time(1_700_000_000)),
    ],
)
def test_what_a_log_is_asked_for_comes_back(options: LogOptions) -> None:
    url = urlsplit(format_log_url(POD, options))
    assert parse_log_url(url.path, parse_qs(url.query), "node-a") == (PLACE, options)


@pytest.mark.parametrize(
    "command",
    [
        Command(("ls",), stdout=True, stderr=True),
        Command(("sh", "-c", "echo 'a b' & /bin/x?y=1#z"), stdin=True, stdout=True, tty=True),
    ],
)
@pytest.mark.parametrize("container", [POD, PLACE])
def test_what_is_to_run_comes_back(container: ContainerAddress, command: Command) -> None:
    url = urlsplit(format_command_url(container, command))
    assert parse_command_url(url.path, parse_qs(url.query), "node-a") == (container, command)


def test_urls_are_those_of_a_kubelet() -> None:
    assert format_log_url(POD, LogOptions(follow=True, tail_lines=5)) == (
        "/containerLogs/default/web-0/app?follow=true&tailLines=5"
    )
    assert format_command_url(POD, Command(("ls", "/"), stdout=True)) == (
        "/exec/default/web-0/uid-1/app?command=ls&command=%2F&output=1"
    )


@pytest.mark.parametrize("path", ["/", "/exec/a/b", "/containerLogs/a/b", "/metrics", "/exec/a/b/c/d/e"])
def test_nothing_is_served_elsewhere(path: str) -> None:
    with pytest.raises(NotFound):
        parse_log_url(path, {}, "node-a")
    with pytest.raises(NotFound):
        parse_command_url(path, {}, "node-a")


@pytest.mark.parametrize("query", ["tailLines=x", "sinceTime=yesterday", "limitBytes=1.5"])
def test_a_number_or_time_that_is_none_is_refused(query: str) -> None:
    with pytest.raises(BadRequest):
        parse_log_url("/containerLogs/a/b/c", parse_qs(query), "node-a")
