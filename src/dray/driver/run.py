"""Running a driver as a program: `run(MyDriver())` is the last line of it.

Reads flags and variables, finds the API server as kubectl would or as a pod does, serves until SIGTERM or SIGINT, and
then ends in good order: calls come to their end, sockets go, claims stay prepared.
"""

import asyncio
import signal
import sys
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path

from prometheus_client import start_http_server

from dray.client.http import Surroundings, open_http_client
from dray.client.kubeconfig import load_connection
from dray.client.retrying import Pace
from dray.driver.metrics import DriverMetrics
from dray.driver.options import DriverOptions
from dray.driver.port import Driver
from dray.driver.serving import (
    NodePlaces,
    ServingParts,
    open_publishing_driver,
    open_served_driver,
    read_boot_id,
)
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import JsonLog, Log, TextLog
from dray.errors import DrayError

__all__ = ["run_until_stopped"]


def run_until_stopped(driver: Driver, options: DriverOptions) -> int:
    """Run a driver until it is told to stop. The exit status: 0 after that, 1 where it cannot run, said on stderr."""
    clock = SystemClock()
    log_type = JsonLog if options.log_format == "json" else TextLog
    log = log_type(sys.stderr, clock, level=options.log_level)
    try:
        asyncio.run(_run(driver, options, log, Pace(clock, SystemEntropy())))
    except DrayError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    except ExceptionGroup as group:
        faults, others = group.split(DrayError)
        if faults is None or others is not None:
            raise
        for each in _leaves(faults):
            print(f"error: {each}", file=sys.stderr)
        return 1
    return 0


async def _run(driver: Driver, options: DriverOptions, log: Log, pace: Pace) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    connection = load_connection(options.places)
    metrics = DriverMetrics(driver.name)
    surroundings = Surroundings(pace.clock, pace.entropy, options.environment)
    async with open_http_client(connection, surroundings) as client:
        with _serve_metrics(metrics, options.metrics_port, log):
            parts = ServingParts(client=client, pace=pace, log=log, metrics=metrics, boot_id=read_boot_id())
            async with _open(driver, options, parts):
                log.info("driver runs", driver=driver.name, node=options.node_name, server=connection.server)
                await stopped.wait()
                log.info("driver stops", driver=driver.name, node=options.node_name)


def _open(driver: Driver, options: DriverOptions, parts: ServingParts) -> AbstractAsyncContextManager[object]:
    """With a node, everything; without, only the devices that several nodes reach."""
    if not options.node_name:
        return open_publishing_driver(driver, parts)
    places = NodePlaces(
        node_name=options.node_name,
        plugins=Path(options.plugins_directory),
        registry=Path(options.registry_directory),
        cdi=Path(options.cdi_directory),
        pod_uid=options.pod_uid,
    )
    return open_served_driver(driver, places, parts)


@contextmanager
def _serve_metrics(metrics: DriverMetrics, port: int, log: Log) -> Generator[None, None, None]:
    if port < 0:
        yield
        return
    server, thread = start_http_server(port, registry=metrics.registry)
    log.info("metrics are served", port=server.server_port)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _leaves(group: BaseExceptionGroup[DrayError]) -> list[DrayError]:
    return [
        leaf
        for each in group.exceptions
        for leaf in (_leaves(each) if isinstance(each, BaseExceptionGroup) else [each])
    ]
