"""The page of a first driver, read by somebody with a short path to their folder: sockets have short names."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.documented import Reader, follow


@pytest.fixture
def reader() -> Iterator[Reader]:
    with tempfile.TemporaryDirectory(prefix="dray-") as folder:
        reader = Reader(Path(folder))
        yield reader
        reader.leave()
        for file in Path(folder).rglob("driver.pid"):
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text(encoding="utf-8")), signal.SIGTERM)


def test_a_first_driver_is_written_tested_run_used_and_changed(reader: Reader) -> None:
    follow("docs/drivers/first-driver.md", reader)
