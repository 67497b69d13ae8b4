"""Running one part against an API server: a scheduler, controllers, or nodes."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from dray.app.clientwire import wire_connection
from dray.app.nodegroups import parse_node_groups
from dray.app.nodepart import find_own_address, make_node_part
from dray.app.nodes import NodePlan
from dray.app.parts import Part, PartRun, make_controllers_part, make_scheduler_part, plan_controllers, run_part
from dray.app.process import run_process
from dray.app.running import RunRecord, hold_run_file
from dray.app.schedulersetup import read_scheduler_configuration
from dray.app.wishes import PartName, RuntimeChoice, Surroundings, UpReport, Wish
from dray.client.connection import Connection

__all__ = ["run_single_part"]

_MACHINE: Final = "machine"


def run_single_part(name: PartName, wish: Wish, around: Surroundings) -> None:
    """Run a part against an API server until the process is told to end. Raises DrayError, OSError."""
    connection, part, report = _PARTS[name](wish, around)
    record = replace(around.describe(name), address=connection.server, kubeconfig=_name_file(wish.kubeconfig))
    is_alone = around.log_file is not None or name is PartName.NODE
    if is_alone:
        wish.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with hold_run_file(wish.data_dir, name) if is_alone else nullcontext(_tell_nobody) as tell:

        def announce() -> None:
            tell(replace(record, pid=os.getpid()))
            if name is not PartName.NODE:  # which says by itself when its nodes are ready
                around.announce(report)

        run_process(
            run_part(
                PartRun(
                    name=name,
                    part=part,
                    connection=connection,
                    environment=around.environment,
                    clock=around.clock,
                    log=around.log,
                    announce=announce,
                    metrics_port=wish.metrics_port,
                )
            )
        )


def _tell_nobody(record: RunRecord) -> None:
    """Whoever may run several times over is not to be found."""


_Prepared = tuple[Connection, Part, UpReport]


def _prepare_scheduler(wish: Wish, around: Surroundings) -> _Prepared:
    configuration = read_scheduler_configuration(wish.scheduler_config)
    if wish.elects is not None:
        election = replace(configuration.leader_election, is_enabled=wish.elects)
        configuration = replace(configuration, leader_election=election)
    named = Path(configuration.kubeconfig) if configuration.kubeconfig else None
    connection = _connect(wish, around, wish.kubeconfig or named)
    election = configuration.leader_election
    report = UpReport(
        part=PartName.SCHEDULER,
        url=connection.server,
        scheduler_names=tuple(each.scheduler_name for each in configuration.profiles),
        lease=f"{election.lease_namespace}/{election.lease_name}" if election.is_enabled else "",
    )
    return connection, make_scheduler_part(configuration, checks_itself=wish.checks_itself), report


def _prepare_controllers(wish: Wish, around: Surroundings) -> _Prepared:
    connection = _connect(wish, around, wish.kubeconfig)
    choice = plan_controllers(wish.controllers.split(","), elects=wish.elects is not False)
    report = UpReport(part=PartName.CONTROLLERS, url=connection.server, lease=choice.lease)
    return connection, make_controllers_part(connection, choice), report


def _prepare_nodes(wish: Wish, around: Surroundings) -> _Prepared:
    connection = _connect(wish, around, wish.kubeconfig)
    host = wish.host or find_own_address(connection.server)
    plan = NodePlan(
        groups=parse_node_groups(wish.nodes or (_MACHINE,)),
        runtime=wish.runtime or RuntimeChoice.SIMULATED,
        folder=wish.data_dir / "agent",
        settings=around.nodes,
    )
    plan.check()
    report = UpReport(
        part=PartName.NODE,
        url=connection.server,
        nodes_of_processes=plan.local_count,
        data_dir=_name_file(wish.data_dir),
    )
    announced: list[str] = []

    def announce(names: Sequence[str]) -> None:
        if not announced:  # said once, also if the nodes are begun again
            announced.extend(names)
            around.announce(replace(report, nodes=tuple(names)))

    return connection, make_node_part(plan, connection, (host, wish.port or 0), announce), report


_PARTS: Final[Mapping[PartName, Callable[[Wish, Surroundings], _Prepared]]] = {
    PartName.SCHEDULER: _prepare_scheduler,
    PartName.CONTROLLERS: _prepare_controllers,
    PartName.NODE: _prepare_nodes,
}


def _connect(wish: Wish, around: Surroundings, kubeconfig: Path | None) -> Connection:
    return wire_connection(around.environment, kubeconfig=kubeconfig, context=wish.context)


def _name_file(file: Path | None) -> str:
    return "" if file is None else str(file.absolute())
