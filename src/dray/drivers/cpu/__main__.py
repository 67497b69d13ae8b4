"""`python -m dray.drivers.cpu`: offer the processors of this machine. `--help` lists the flags."""

from dray.driver.program import run
from dray.drivers.cpu.driver import CpuDriver

__all__ = ["main"]


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    run(CpuDriver())


if __name__ == "__main__":
    main()
