"""How long the command takes from nothing, in a process of its own."""

import subprocess
import sys
import time
from pathlib import Path

CLAIM = Path(__file__).parents[1] / "examples" / "tour" / "claim.yaml"
ROUNDS = 5


def _milliseconds(*arguments: str) -> float:
    """The best of a few runs; what a verb says and how it ends are no concern here."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "dray", *arguments], check=False, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - begin)
    return best * 1000


def measure() -> list[tuple[str, float, str]]:
    return [
        ("start: dray version", _milliseconds("version"), "ms"),
        ("start: dray check, one claim", _milliseconds("check", "-f", str(CLAIM)), "ms"),
    ]
