"""For tests of drivers: a node and an API server that are real, and a fixture for pytest that runs a driver on them.

`dray_driver` comes with the pytest plugin (`dray.pytestplugin`); the rest is here for tests that want more.
"""

from dray.testing.agentside import CallRefused
from dray.testing.allocating import Wanted
from dray.testing.undertest import DriverUnderTest, PreparedPod, World

__all__ = ["CallRefused", "DriverUnderTest", "PreparedPod", "Wanted", "World"]
