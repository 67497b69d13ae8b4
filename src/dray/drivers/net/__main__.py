"""`python -m dray.drivers.net`: offer the network interfaces of this machine. `--help` lists the flags."""

from dray.driver.program import run
from dray.drivers.net.driver import NetDriver

__all__ = ["main"]


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    run(NetDriver())


if __name__ == "__main__":
    main()
