"""What verbs print, line by line: the life of a cluster, and of its simulated devices."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import Golden


class Transcript:
    """Commands in a folder, and what each printed. What differs from run to run is masked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {"KUBECONFIG": str(folder / "dray-data" / "kubeconfig"), "PYTHONUTF8": "1"}
        self._lines: list[str] = []

    def run(self, words: str, *, code: int = 0) -> None:
        command = [sys.executable, "-m", "dray", *words.split()]
        done = subprocess.run(
            command, capture_output=True, text=True, env=self._environment, cwd=self._folder, check=False
        )
        assert done.returncode == code, done
        self._lines.append(f"$ dray {words}\n{self._mask(done.stdout + done.stderr)}")

    def wait(self, words: str, piece: str) -> None:
        """Wait until a command that watches prints a line with a piece of text; nothing is written down."""
        command = [sys.executable, "-m", "dray", *words.split()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._environment) as watching:
            assert watching.stdout is not None
            assert any(piece in line for line in watching.stdout)
            watching.terminate()

    def text(self) -> str:
        return "\n".join(self._lines)

    def _mask(self, text: str) -> str:
        text = text.replace(str(self._folder), "FOLDER")
        for pattern, word in (
            (r"https://127\.0\.0\.1:\d+", "https://127.0.0.1:PORT"),
            (r"process \d+", "process PID"),
            (r"\d+ objects? at revision \d+, [\d.]+ MB", "N objects at revision R, S MB"),
        ):
            text = re.sub(pattern, word, text)
        return text


@contextmanager
def cluster_in_background(folder: Path) -> Iterator[Transcript]:
    transcript = Transcript(folder)
    transcript.run("up -d --nodes t4-vm --port 0")
    try:
        yield transcript
    finally:
        transcript.run("down")


def test_life_of_a_cluster_reads_as_expected(tmp_path: Path, golden: Golden) -> None:
    with cluster_in_background(tmp_path) as transcript:
        transcript.run("status")
        transcript.run("backup objects.db")
    transcript.run("status", code=1)
    transcript.run("restore objects.db")
    transcript.run("down")
    golden.check("walkthrough/life-of-a-cluster.txt", transcript.text())


def test_life_of_a_device_reads_as_expected(tmp_path: Path, golden: Golden) -> None:
    with cluster_in_background(tmp_path) as transcript:
        transcript.run("device fail t4-vm-0/gpu-0 --effect NoSchedule --reason 79")
        transcript.wait("devices t4-vm-0 --watch", "NoSchedule")
        transcript.run("devices t4-vm-0")
        transcript.run("device heal t4-vm-0")
        transcript.run("device heal t4-vm-0")
        transcript.run("device hold t4-vm-0/gpu-0 --by xorg")
        transcript.run("device show t4-vm-0")
        transcript.run("device show t4-vm-0/gpu-0 -o json")
        transcript.run("device release t4-vm-0")
        transcript.run("device show t4-vm-0/gpu-1", code=2)
    golden.check("walkthrough/life-of-a-device.txt", transcript.text())
