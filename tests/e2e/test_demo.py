"""`make demo` without make."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_demo_shows_faults_and_verdicts() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.stderr == ""
    assert "2 objects: 1 invalid, 5 faults" in done.stdout
    assert "gpu-0: true\n    gpu-1: false" in done.stdout
    assert "did you mean device.driver?" in done.stdout
