"""Running a whole cluster: as wished, or else as it was when it ran last on the same data."""

from collections.abc import Sequence

from msgspec.structs import replace

from dray.app.cluster import ClusterOptions, make_cluster
from dray.app.nodegroups import parse_node_groups, plan_nodes
from dray.app.nodes import NodePlan
from dray.app.runserver import begin_report, plan_up
from dray.app.schedulersetup import make_scheduler_options, read_scheduler_configuration
from dray.app.shape import find_shape, write_shape
from dray.app.up import run_up
from dray.app.wishes import Surroundings, Wish

__all__ = ["run_cluster"]


def run_cluster(wish: Wish, around: Surroundings) -> None:
    """Run a whole cluster until the process is told to end. Raises DrayError, OSError.

    Without wishes it is the cluster that the data directory had before; nodes that it has no more are removed.
    """
    before = find_shape(wish.data_dir)
    shape = before.change(wish.nodes, wish.runtime)
    folder = wish.data_dir / "nodes"
    groups = parse_node_groups(shape.nodes)
    names = [each.name for each in plan_nodes(groups)]
    departed = [each for each in before.names if each not in names]
    plan = NodePlan(groups=groups, runtime=shape.runtime, folder=folder, departed=departed, settings=around.nodes)
    plan.check()
    configuration = read_scheduler_configuration(wish.scheduler_config)
    scheduler = make_scheduler_options(configuration, checks_itself=wish.checks_itself)
    report = replace(begin_report(wish, ""), nodes_of_processes=plan.local_count)
    urls: list[str] = []

    def note_server(url: str) -> None:
        urls.append(url)
        write_shape(wish.data_dir, shape.settle(list(dict.fromkeys((*before.names, *names)))))

    def note_nodes(ready: Sequence[str]) -> None:
        write_shape(wish.data_dir, shape.settle(ready))
        if urls:  # said once, also if the cluster is begun again
            around.announce(replace(report, url=urls.pop(), nodes=tuple(ready)))

    cluster = make_cluster(ClusterOptions(plan, scheduler), note_nodes)
    run_up(plan_up(wish, around, ""), around.clock, around.log, note_server, cluster)
