"""For tests: a whole cluster in the process of the test, and drivers on a node and an API server that are real.

`dray_cluster` and `dray_driver` come with the pytest plugin (`dray.pytestplugin`); the rest is here for tests that want
more. Each name is loaded when it is first used: a test of a driver does not wait for a scheduler to be imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dray.errors import ApiError
    from dray.testing.agentside import CallRefused
    from dray.testing.allocating import Wanted
    from dray.testing.cluster import Cluster
    from dray.testing.clusters import Clusters, running_cluster
    from dray.testing.clusterthread import ClusterError
    from dray.testing.undertest import DriverUnderTest, PreparedPod, World

__all__ = [
    "ApiError",
    "CallRefused",
    "Cluster",
    "ClusterError",
    "Clusters",
    "DriverUnderTest",
    "PreparedPod",
    "Wanted",
    "World",
    "running_cluster",
]

_HOMES: Final = {
    "ApiError": "dray.errors",
    "CallRefused": "dray.testing.agentside",
    "Cluster": "dray.testing.cluster",
    "ClusterError": "dray.testing.clusterthread",
    "Clusters": "dray.testing.clusters",
    "DriverUnderTest": "dray.testing.undertest",
    "PreparedPod": "dray.testing.undertest",
    "Wanted": "dray.testing.allocating",
    "World": "dray.testing.undertest",
    "running_cluster": "dray.testing.clusters",
}


def __getattr__(name: str) -> object:
    """Load the module that has a name."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
