"""`dray driver new` as people run it: what it writes works, and notices when it no longer does."""

import subprocess
import sys
from pathlib import Path

import pytest

LINT = ["--isolated", "--line-length=120", "--select=E,F,I,W,UP,B,ANN", "--config", 'src=["src"]']


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )


def run_tests(project: Path) -> subprocess.CompletedProcess[str]:
    return run("pytest", "-q", "-p", "no:cacheprovider", folder=project)


@pytest.mark.parametrize(
    ("name", "folder"), [("gpu.example.com", "gpu-driver"), ("3d-chip.example.com", "3d-chip-driver")]
)
def test_a_new_driver_works(name: str, folder: str, tmp_path: Path) -> None:
    done = run("dray", "driver", "new", name, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    project = tmp_path / folder
    tested = run_tests(project)
    assert tested.returncode == 0, tested.stdout
    assert "7 passed" in tested.stdout
    linted = run("ruff", "check", *LINT, ".", folder=project)
    assert linted.returncode == 0, linted.stdout
    assert run("ruff", "format", "--isolated", "--line-length=120", "--check", ".", folder=project).returncode == 0
    known = [f"deploy/{each}.yaml" for each in ("deviceclass", "pod")]
    for each in known:
        assert run("dray", "check", "-f", each, folder=project).returncode == 0


def test_its_tests_notice_a_driver_that_is_broken(tmp_path: Path) -> None:
    run("dray", "driver", "new", "gpu.example.com", folder=tmp_path)
    driver = tmp_path / "gpu-driver" / "src" / "gpu_driver" / "driver.py"
    text = driver.read_text()
    driver.write_text(text.replace("device.prepared(edits)", "device.prepared()"))
    tested = run_tests(tmp_path / "gpu-driver")
    assert tested.returncode == 1
    assert "test_a_container_gets_its_device" in tested.stdout


@pytest.mark.parametrize("name", ["gpu", "GPU.example.com", "g" * 60 + ".example.com", ""])
def test_a_name_that_no_driver_can_have_is_refused(name: str, tmp_path: Path) -> None:
    done = run("dray", "driver", "new", name, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: driver name")
    assert "try: dray driver new gpu.example.com" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["full", "file", "file/below"])
def test_a_place_that_is_taken_is_left_alone(place: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    done = run("dray", "driver", "new", "gpu.example.com", "--folder", place, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert (tmp_path / "file").read_text() == "mine"
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["mine"]
