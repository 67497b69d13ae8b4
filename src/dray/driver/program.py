"""`run(MyDriver())`: the last line of a driver's program."""

import sys

from dray.driver.options import DriverOptions, read_process_options
from dray.driver.port import Driver

__all__ = ["run"]


def run(driver: Driver, options: DriverOptions | None = None) -> None:
    """Serve a driver until SIGTERM or SIGINT, then exit. Flags and variables say how; `--help` lists them.

    Works on any node with a kubelet, or with dray's node agent. `options` stands in for flags and variables, for
    programs with flags of their own (`dray.driver.read_options` helps with the rest).
    """
    options = options or read_process_options()
    from dray.driver.run import run_until_stopped  # noqa: PLC0415 (gRPC and HTTP: only who serves shall load them)

    sys.exit(run_until_stopped(driver, options))
