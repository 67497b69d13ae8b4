"""`dray device` as people run it, against a server of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

READY = "dray is up"


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "kubeconfig"
    words = ["up", "--nodes", "dgx-a100", "--data-dir", str(folder), "--port", "0", "--kubeconfig-out", str(file)]
    with subprocess.Popen(
        [sys.executable, "-m", "dray", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert any(READY in line for line in process.stdout), "the cluster did not come up"
            yield file
        finally:
            process.send_signal(signal.SIGINT)


def dray(*words: str, kubeconfig: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dray", *words],
        capture_output=True,
        text=True,
        env={"KUBECONFIG": str(kubeconfig), "PYTHONUTF8": "1"},
        check=False,
    )


def test_device_fails_and_heals(kubeconfig: Path) -> None:
    failed = dray(
        "device", "fail", "dgx-a100-0/gpu-3", "--effect", "NoSchedule", "--reason", "79", kubeconfig=kubeconfig
    )
    assert (failed.returncode, failed.stderr) == (0, "")
    shown = dray("devices", "dgx-a100-0", "-o", "json", kubeconfig=kubeconfig)
    tainted = [each["device"] for each in json.loads(shown.stdout)["devices"] if each.get("taints")]
    assert tainted == ["gpu-3"]
    healed = dray("device", "heal", "dgx-a100-0", kubeconfig=kubeconfig)
    assert healed.stdout == "dgx-a100-0/gpu-3 works again\n"
    text = dray("devices", kubeconfig=kubeconfig).stdout
    assert text.splitlines()[0].split()[:4] == ["DEVICE", "DRIVER", "KIND", "STATE"]
    assert "gpu-3" in text
    assert "NoSchedule" not in text


def test_gpu_is_held_shown_and_released(kubeconfig: Path) -> None:
    held = dray("device", "hold", "dgx-a100-0/gpu-5", "--by", "xorg (812)", kubeconfig=kubeconfig)
    assert (held.returncode, held.stderr) == (0, "")
    text = dray("device", "show", "dgx-a100-0", kubeconfig=kubeconfig).stdout
    assert [line.split()[0] for line in text.splitlines()] == ["GPU", *(f"gpu-{minor}" for minor in range(8))]
    assert [line.rpartition("   ")[2] for line in text.splitlines() if "xorg" in line] == ["xorg (812)"]
    (gpu,) = json.loads(dray("device", "show", "dgx-a100-0/gpu-5", "-o", "json", kubeconfig=kubeconfig).stdout)
    assert (gpu["node"], gpu["gpu"], gpu["heldBy"]) == ("dgx-a100-0", "gpu-5", "xorg (812)")
    assert (gpu["kernelDriver"], gpu["computeMode"], gpu["timeSlice"]) == ("nvidia", "DEFAULT", 0)
    released = dray("device", "release", "dgx-a100-0", kubeconfig=kubeconfig)
    assert released.stdout == "dgx-a100-0/gpu-5 is released\n"
    assert dray("device", "release", "dgx-a100-0", kubeconfig=kubeconfig).stdout == "dgx-a100-0 was not held\n"


@pytest.mark.parametrize(
    "words",
    [
        ["device", "fail", "dgx-a100-0/gpu-33"],
        ["device", "fail", "dgx-a100-0"],
        ["device", "fail", "nowhere/gpu-0"],
        ["device", "fail", "dgx-a100-0/gpu-0", "--reason", "no label!"],
        ["device", "fail", "dgx-a100-0/gpu-0", "--effect", "Perhaps"],
        ["device", "heal", "nowhere"],
        ["device", "show", "nowhere"],
        ["device", "show", "dgx-a100-0/gpu-33"],
        ["device", "hold", "dgx-a100-0"],
        ["device", "hold", "dgx-a100-0/gpu-33"],
        ["device", "release", "nowhere"],
        ["device", "show", "dgx-a100-0", "--kubeconfig", "no-such-file"],
        ["devices", "--kubeconfig", "no-such-file"],
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], kubeconfig: Path) -> None:
    done = dray(*words, kubeconfig=kubeconfig)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_gpu_of_a_machine_is_still_its_own_after_a_cluster_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"

    def up(*nodes: str) -> None:
        words = ["up", "-d", "--port", "0", "--data-dir", str(tmp_path), *nodes]
        assert dray(*words, kubeconfig=file).returncode == 0

    def driver_of_gpu() -> str:
        shown = dray("device", "show", "dgx-h100-0/gpu-0", "-o", "json", kubeconfig=file)
        return str(json.loads(shown.stdout)[0]["kernelDriver"])

    def wait_for(driver: str) -> None:
        assert any(driver_of_gpu() == driver for _ in range(100)), f"gpu-0 is not under {driver}"

    up("--nodes", "dgx-h100:vfio")
    try:
        manifest = str(Path(__file__).parents[2] / "examples/use-cases/06-vfio/machine.yaml")
        assert dray("apply", "-f", manifest, kubeconfig=file).returncode == 0
        wait_for("vfio-pci")
        status = json.loads(dray("status", "--data-dir", str(tmp_path), "-o", "json", kubeconfig=file).stdout)
        os.kill(status["running"][0]["pid"], signal.SIGKILL)
        up()
        wait_for("vfio-pci")
        assert dray("delete", "pods", "--all", "-n", "use-case", kubeconfig=file).returncode == 0
        wait_for("nvidia")
    finally:
        dray("down", "--data-dir", str(tmp_path), kubeconfig=file)
