"""What the whole suite shares: how long hypothesis searches, and goldens."""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Shells let what runs in the background ignore Ctrl-C, and so would every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadlines: time limits live in `make bench` alone. On a busy machine drawing may be slow, which is no fault.
_PATIENT = (HealthCheck.too_slow,)
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_PATIENT)
settings.register_profile(
    "ci", max_examples=100, deadline=None, suppress_health_check=_PATIENT, derandomize=True, print_blob=True
)
settings.register_profile("soak", max_examples=5_000, deadline=None, suppress_health_check=_PATIENT, print_blob=True)
settings.load_profile("dev")

GOLDEN = Path(__file__).parent / "golden" / "expected"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write expected outputs anew: `make golden`")


class Golden:
    """Expected outputs in `tests/golden/expected`."""

    def __init__(self, *, rewrite: bool) -> None:
        self._rewrite = rewrite

    def check(self, name: str, text: str) -> None:
        """Compare a text with the file of that name, or write the file."""
        file = GOLDEN / name
        if self._rewrite:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"no golden {name} yet: run `make golden` and review it"
        assert text == file.read_text(encoding="utf-8"), f"{name} changed: if that is meant, run `make golden`"


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(rewrite=request.config.getoption("--rewrite-golden"))
