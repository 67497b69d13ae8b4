"""The kernel's tree of devices, as the SDK reads it."""

from dray.driver.sysfs import Sysfs, parse_cpu_list

__all__ = ["Sysfs", "parse_cpu_list"]
