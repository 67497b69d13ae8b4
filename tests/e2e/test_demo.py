"""`dray demo` as people run it, from nothing: the tour with kubectl where there is one, and without."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUR = [
    "1. One GPU, two pods",
    "2. A GPU and a network interface on one PCIe root",
    "3. Partitions on demand",
    "4. Why is it pending?",
]


def demo(*words: str, folder: Path, path: str = os.defpath) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dray", "demo", *words],
        cwd=folder,
        env={"PATH": path, "PYTHONUTF8": "1", "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def list_commands(text: str) -> list[str]:
    return re.findall(r"^\$ (\S+ \S+)", text, re.MULTILINE)


def test_make_runs_the_demo() -> None:
    words = ["make", "--no-print-directory", "-n", "demo", f"VENV={sys.prefix}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == [f"{sys.prefix}/bin/python", "-m", "dray", "demo"]


def test_tour_shows_every_command_and_what_it_printed(tmp_path: Path) -> None:
    done = demo(folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert [line for line in done.stdout.splitlines() if line[:1].isdigit() and line[1:2] == "."] == TOUR
    assert done.stdout.endswith("Everything held. There is more: dray demo --list\n")
    assert len(re.findall(r"^\$ dray up --nodes ", done.stdout, re.MULTILINE)) == len(TOUR)
    for line in ("pod1   1/1     Running", "pod2   0/1     Pending", "pod2   1/1     Running", "On mixed-gpus-0"):
        assert line in done.stdout
    assert list(tmp_path.iterdir()) == [], "something is left behind"


def test_tour_needs_no_kubectl(tmp_path: Path) -> None:
    done = demo(folder=tmp_path, path=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "There is no kubectl in the path: dray's own verbs are shown instead." in done.stdout
    commands = list_commands(done.stdout)
    assert {each.split()[0] for each in commands} == {"dray"}
    assert {"dray apply", "dray get", "dray explain", "dray delete", "dray logs", "dray devices"} <= set(commands)
    assert "with gpu-test1/pod1-gpu-" in done.stdout


def test_one_example_is_told_for_machines(tmp_path: Path) -> None:
    done = demo("broken-claims", "-o", "json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"name": "broken-claims"' in done.stdout


def test_demos_are_listed(tmp_path: Path) -> None:
    done = demo("--list", folder=tmp_path)
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names[:3] == ["NAME", "tour", "use-cases"]
    assert len([each for each in names if each.startswith("use-cases/")]) == 12


@pytest.mark.parametrize(
    ("name", "want"), [("walktrough", "dray demo walkthrough"), ("xyz", "dray demo --list shows which there are")]
)
def test_unknown_demo_is_told(tmp_path: Path, name: str, want: str) -> None:
    done = demo(name, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: there is no demo {name}\n  try: {want}\n"
