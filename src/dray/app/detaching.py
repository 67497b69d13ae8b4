"""Putting a process into the background: begun in a session of its own, and left once it says that it is ready."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from dray.errors import DrayError

__all__ = ["DetachedFailed", "begin_detached", "tell_ready"]


class DetachedFailed(DrayError):
    """The process in the background ended before it was ready; the message is what it said itself."""

    def __init__(self, message: str, log: Path) -> None:
        lines = [line.strip() for line in message.splitlines()]
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        hints = [line.removeprefix("try: ") for line in lines if line.startswith("try: ")]
        super().__init__(errors[-1] if errors else "the process in the background ended before it was ready")
        self.hint = hints[-1] if errors and hints else f"look into {log}"


def begin_detached(words: Sequence[str], log: Path) -> str:
    """Run `dray` with these words and `--ready-fd`, and wait until it is ready; what it says then.

    Raises DetachedFailed, and OSError for a log that cannot be written.
    """
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as said, log.open("ab") as output:
        before = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "dray", *words, "--ready-fd", str(writing)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[writing],
            start_new_session=True,
        )
        os.close(writing)
        try:
            text = said.read()
        except KeyboardInterrupt:
            process.terminate()
            raise
    if text:
        process.returncode = 0  # it is left to itself: nobody waits for its end
        return text
    process.wait()
    with log.open(encoding="utf-8", errors="replace") as written:
        written.seek(before)
        raise DetachedFailed(written.read(), log)


def tell_ready(descriptor: int, text: str) -> None:
    """Say to whoever began this process that it is ready, and how it is reached. Once."""
    with os.fdopen(descriptor, "w", encoding="utf-8") as said:
        said.write(text)
