"""`/healthz`, `/livez` and `/readyz`: whether the server lives, and whether it is ready for work."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["HEALTH_PATHS", "Check", "Verdict", "examine"]

HEALTH_PATHS = ("healthz", "livez", "readyz")

Check = Callable[[], bool]


class Verdict(NamedTuple):
    """What is answered, as plain text."""

    code: int
    text: str


def examine(path: str, checks: Mapping[str, Check], *, is_verbose: bool, excluded: Sequence[str] = ()) -> Verdict:
    """Run the checks of a path such as `/readyz`, or the one it names: `/readyz/ping`."""
    endpoint, _, only = path.strip("/").partition("/")
    if only:
        check = checks.get(only)
        if check is None:
            return Verdict(404, "404 page not found\n")
        return Verdict(200, "ok") if check() else Verdict(500, "internal server error: " + _line(only, is_well=False))
    lines = ""
    is_well = True
    for name, check in checks.items():
        passed = name in excluded or check()
        is_well = is_well and passed
        lines += f"[+]{name} excluded: ok\n" if name in excluded else _line(name, is_well=passed)
    if is_well:
        return Verdict(200, f"{lines}{endpoint} check passed\n" if is_verbose else "ok")
    return Verdict(500, f"{lines}{endpoint} check failed\n")


def _line(name: str, *, is_well: bool) -> str:
    return f"[+]{name} ok\n" if is_well else f"[-]{name} failed: reason withheld\n"
