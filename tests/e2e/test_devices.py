"""`dray devices` as people run it: who holds what, on a cluster of its own."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.servers import running_cluster

INTERRUPTED = 130
"""As shells have it."""
ROOT = Path(__file__).parents[2]
ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: looks-at-claims}
rules:
- {apiGroups: [resource.k8s.io], resources: [resourceslices, resourceclaims], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: looks-at-claims}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: looks-at-claims}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: curious}]
"""


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), "dgx-h100+rdma-nic", "mixed-gpus:mig", "t4-vm") as file:
        applied = dray("apply", "-f", ROOT / "examples" / "aligned-gpu-and-nic" / "pods.yaml", kubeconfig=file)
        assert applied.returncode == 0, applied.stderr
        with watch("--claim", "demo/*", kubeconfig=file) as watching:
            assert watching.stdout is not None
            assert any("gpu-0" in line and "rank-0" in line for line in watching.stdout)
            watching.send_signal(signal.SIGINT)
        yield file


def start(*words: str | Path, kubeconfig: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dray", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"KUBECONFIG": str(kubeconfig), "PYTHONUTF8": "1"},
    )


def watch(*words: str, kubeconfig: Path) -> subprocess.Popen[str]:
    return start("devices", *words, "--watch", kubeconfig=kubeconfig)


def dray(*words: str | Path, kubeconfig: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    with start(*words, kubeconfig=kubeconfig) as process:
        out, err = process.communicate(stdin)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def impersonate(name: str, kubeconfig: Path, folder: Path) -> Path:
    file = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    file["users"][0]["user"]["as"] = name
    place = folder / name
    place.write_text(yaml.safe_dump(file), encoding="utf-8")
    return place


def test_who_has_what_is_shown_where_it_sits(kubeconfig: Path) -> None:
    done = dray("devices", "--claim", "demo/*", kubeconfig=kubeconfig)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout, "colours where there is no terminal"
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["DEVICE", "DRIVER", "KIND", "STATE", "CLAIM", "POD", "TROUBLE"]
    assert lines[:3] == ["dgx-h100-0", "└─ NUMA 0", "   └─ PCIe pci0000:15"]
    gpu, nic = (line.replace("NVIDIA H100 80GB HBM3", "H100").split()[1:] for line in lines[3:])
    assert (gpu[:4], gpu[5]) == (["gpu-0", "gpu.nvidia.com", "H100", "taken"], "rank-0")
    assert (nic[:4], nic[5]) == (["vf-0000-18-00-2", "rdma.nvidia.com", "vf", "taken"], "rank-0")
    assert gpu[4] == nic[4]
    assert gpu[4].startswith("demo/rank-0-")


def test_everything_is_shown_in_every_form(kubeconfig: Path) -> None:
    table, wide, text, names = (
        dray("devices", "-o", form, kubeconfig=kubeconfig).stdout for form in ("table", "wide", "json", "name")
    )
    assert "dgx-h100-0: 70 of 72 free\n" in table
    assert "25 parts" in table
    assert "gpu-2-mig-7g40gb-0-0" not in table
    assert "gpu-2-mig-7g40gb-0-0" in wide
    told = json.loads(text)["devices"]
    assert [f"{each['driver']}/{each['pool']}/{each['device']}" for each in told] == names.splitlines()
    assert [each["device"] for each in told if each["state"] == "taken"] == ["gpu-0", "vf-0000-18-00-2"]
    assert yaml.safe_load(dray("devices", "-o", "yaml", kubeconfig=kubeconfig).stdout) == json.loads(text)


@pytest.mark.parametrize(
    ("words", "want"),
    [
        (["t4-vm-0"], ["gpu.nvidia.com/t4-vm-0/gpu-0"]),
        (["--pool", "t4-vm-0"], ["gpu.nvidia.com/t4-vm-0/gpu-0"]),
        (["t4-vm-0", "--driver", "rdma.nvidia.com"], []),
        (["--claim", "elsewhere/*"], []),
        (["--claim", "*/rank-0-*", "--driver", "gpu.nvidia.com"], ["gpu.nvidia.com/dgx-h100-0/gpu-0"]),
    ],
)
def test_choice_narrows_what_is_shown(kubeconfig: Path, words: list[str], want: list[str]) -> None:
    done = dray("devices", *words, "-o", "name", kubeconfig=kubeconfig)
    assert (done.returncode, done.stdout.splitlines()) == (0, want)
    if not want:
        assert dray("devices", *words, kubeconfig=kubeconfig).stderr == "no devices found\n"


def test_changes_are_shown_as_they_come(kubeconfig: Path) -> None:
    with watch("t4-vm-0", kubeconfig=kubeconfig) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline().split()[:3] == ["NODE", "DEVICE", "DRIVER"]
        assert "free" in watching.stdout.readline()
        assert dray("device", "fail", "t4-vm-0/gpu-0", "--reason", "79", kubeconfig=kubeconfig).returncode == 0
        assert any("tainted" in line for line in watching.stdout)
        assert dray("device", "heal", "t4-vm-0/gpu-0", kubeconfig=kubeconfig).returncode == 0
        assert any(line.split()[-1] == "free" for line in watching.stdout)
        watching.send_signal(signal.SIGINT)
        assert watching.wait() == INTERRUPTED
        assert watching.stderr is not None
        assert watching.stderr.read() == ""


def read_terminal(*words: str, kubeconfig: Path, **variables: str) -> str:
    """What a command writes on a terminal."""
    mine, its = pty.openpty()
    environment = {"KUBECONFIG": str(kubeconfig), "PYTHONUTF8": "1", "TERM": "xterm", **variables}
    with subprocess.Popen(
        [sys.executable, "-m", "dray", *words], stdin=its, stdout=its, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(its)
        seen = b""
        while piece := _read(mine):
            seen += piece
            if b"--watch" in [word.encode() for word in words] and b"free" in seen:
                process.send_signal(signal.SIGINT)
        os.close(mine)
    return seen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # nobody is at the other end any more
        return b""


def test_terminals_are_coloured_unless_they_object(kubeconfig: Path) -> None:
    words = ["devices", "--claim", "demo/*"]
    coloured = read_terminal(*words, kubeconfig=kubeconfig)
    plain = read_terminal(*words, kubeconfig=kubeconfig, NO_COLOR="1")
    assert "\x1b[33m" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert plain.replace("\r\n", "\n") == dray(*words, kubeconfig=kubeconfig).stdout


def test_a_watch_on_a_terminal_fills_the_screen_anew(kubeconfig: Path) -> None:
    seen = read_terminal("devices", "t4-vm-0", "--watch", kubeconfig=kubeconfig)
    assert seen.startswith("\x1b[H\x1b[2J")
    assert "t4-vm-0: 1 of 1 free" in seen


def test_what_may_not_be_read_is_left_out_and_said(kubeconfig: Path, tmp_path: Path) -> None:
    assert dray("apply", "-f", "-", kubeconfig=kubeconfig, stdin=ROLE).returncode == 0
    done = dray("devices", "--claim", "demo/*", kubeconfig=impersonate("curious", kubeconfig, tmp_path))
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stderr.splitlines()] == ["devicetaintrules", "nodes", "pods"]
    assert "rank-0" in done.stdout


BAD = [
    (["--claim", "demo"], "'demo' names no claim"),
    (["--claim", "demo/nothing"], "there is no claim demo/nothing"),
    (["--driver", "gpu.nvida.com"], "there is no driver gpu.nvida.com\n  try: dray devices --driver gpu.nvidia.com"),
    (["--pool", "t4-vm-1"], "there is no pool t4-vm-1\n  try: dray devices --pool t4-vm-0"),
    (["t4-vm"], "there is no node t4-vm\n  try: dray devices t4-vm-0"),
    (["t4-vm", "--watch"], "there is no node t4-vm\n  try: dray devices t4-vm-0"),
]


@pytest.mark.parametrize(("words", "want"), BAD, ids=lambda each: " ".join(each) if isinstance(each, list) else "")
def test_what_cannot_be_shown_is_said(kubeconfig: Path, words: list[str], want: str) -> None:
    done = dray("devices", *words, kubeconfig=kubeconfig)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {want}")
    assert "\n  try: " in done.stderr


@pytest.mark.parametrize("words", [["devices"], ["devices", "-w"], ["explain", "pod", "rank-0", "-n", "demo"]])
def test_no_cluster_and_no_permission_are_said(kubeconfig: Path, tmp_path: Path, words: list[str]) -> None:
    nobody, nowhere = impersonate("nobody", kubeconfig, tmp_path), tmp_path / "nowhere"
    file = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    file["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    nowhere.write_text(yaml.safe_dump(file), encoding="utf-8")
    broken = tmp_path / "broken"
    broken.write_text("clusters: [", encoding="utf-8")
    for place, want in (
        (nobody, 'User "nobody" cannot list'),
        (nowhere, "cannot connect"),
        (tmp_path / "none", "kubeconfig"),
        (broken, str(broken)),
    ):
        done = dray(*words, kubeconfig=place)
        assert (done.returncode, done.stdout) == (2, "")
        assert want in done.stderr
        assert done.stderr.startswith("error: ")
        assert "\n  try: " in done.stderr
        assert "Traceback" not in done.stderr
