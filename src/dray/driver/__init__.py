"""Write a driver for Kubernetes' Dynamic Resource Allocation: subclass `Driver`, call `run`.

Everything a driver's author needs is exported here; `dray.driver.port` shows a whole driver. Importing this does not
import gRPC: only serving does.
"""

from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.meta import Condition
from dray.api.resource.allocation import NetworkDeviceData
from dray.api.resource.device import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    DeviceTaint,
)
from dray.driver.cdi import NO_EDITS, ContainerEdits, DeviceNode, Hook, IntelRdt, Mount, NetDevice, env, merge_edits
from dray.driver.claims import (
    AllocatedDevice,
    Claim,
    ClaimRef,
    DeviceHealth,
    DeviceKey,
    DeviceReport,
    Health,
    Prepared,
    PreparedClaim,
    PreparedDevice,
)
from dray.driver.config import ConfigError, ConfigPart, DriverConfig, decode_config, encode_config
from dray.driver.devices import AttributeValue, Devices, Pool, Reach, attributes, capacity
from dray.driver.options import DriverOptions, read_options
from dray.driver.port import Driver, DriverFromCallbacks, Host
from dray.driver.program import run
from dray.driver.sysfs import Sysfs, cpu_attributes, pci_attributes
from dray.values.quantity import Quantity, parse_quantity
from dray.values.semver import Semver, parse_semver

__all__ = [
    "NO_EDITS",
    "AllocatedDevice",
    "AttributeValue",
    "CapacityRequestPolicy",
    "CapacityRequestPolicyRange",
    "Claim",
    "ClaimRef",
    "Condition",
    "ConfigError",
    "ConfigPart",
    "ContainerEdits",
    "Counter",
    "CounterSet",
    "Device",
    "DeviceAttribute",
    "DeviceCapacity",
    "DeviceCounterConsumption",
    "DeviceHealth",
    "DeviceKey",
    "DeviceNode",
    "DeviceReport",
    "DeviceTaint",
    "Devices",
    "Driver",
    "DriverConfig",
    "DriverFromCallbacks",
    "DriverOptions",
    "Health",
    "Hook",
    "Host",
    "IntelRdt",
    "Mount",
    "NetDevice",
    "NetworkDeviceData",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "Pool",
    "Prepared",
    "PreparedClaim",
    "PreparedDevice",
    "Quantity",
    "Reach",
    "Semver",
    "Sysfs",
    "attributes",
    "capacity",
    "cpu_attributes",
    "decode_config",
    "encode_config",
    "env",
    "merge_edits",
    "parse_quantity",
    "parse_semver",
    "pci_attributes",
    "read_options",
    "run",
]
