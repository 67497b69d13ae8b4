"""dray as people install it: a wheel in an environment of its own, far from the repository."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs the installed command. What dray needs is lent by the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True)
    (wheel,) = folder.glob("dray-*.whl")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    install = ["install", "--no-deps", "--no-index", "-q", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    shown = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = Path(subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip())
    own.joinpath("lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python.with_name("dray"), *words],
            cwd=folder,
            env={"PATH": os.defpath, "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    where = [str(python), "-c", "import dray; print(dray.__file__)"]
    assert str(own) in subprocess.run(where, capture_output=True, text=True, check=True, cwd=folder).stdout
    return run


def test_command_says_its_version(run: Run) -> None:
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("dray ")


def test_help_lists_the_verbs(run: Run) -> None:
    assert "\n  devices " in run("--help").stdout


def test_examples_are_those_of_the_repository(run: Run) -> None:
    names = [line.split()[0] for line in run("demo", "--list").stdout.splitlines()]
    there = {file.parent.relative_to(ROOT / "examples").as_posix() for file in ROOT.glob("examples/**/expect.yaml")}
    assert set(names) == {"NAME", "tour", "use-cases", *there}


def test_an_example_plays(run: Run) -> None:
    done = run("demo", "first-available")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "Everything held." in done.stdout


def test_a_driver_project_is_written(run: Run, tmp_path: Path) -> None:
    done = run("driver", "new", "gpu.example.com", "--folder", str(tmp_path / "driver"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "driver" / "pyproject.toml").is_file()
