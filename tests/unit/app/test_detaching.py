import os
from pathlib import Path

from dray.app.detaching import DetachedFailed, tell_ready


def test_what_a_process_says_when_it_is_ready_is_read_once() -> None:
    reading, writing = os.pipe()
    tell_ready(writing, "dray is up\n")
    with os.fdopen(reading) as said:
        assert said.read() == "dray is up\n"


def test_the_last_error_of_the_background_is_that_of_the_command() -> None:
    text = "error: an older one\n2026 info  something else\nerror: no such thing\n  try: another thing\n"
    failure = DetachedFailed(text, Path("dray.log"))
    assert str(failure) == "no such thing"
    assert failure.hint == "another thing"


def test_a_process_that_ends_without_a_word_points_to_its_log() -> None:
    failure = DetachedFailed("Killed\n", Path("dray.log"))
    assert "ended before it was ready" in str(failure)
    assert failure.hint == "look into dray.log"
