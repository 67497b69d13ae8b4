"""`DeviceClass`: a kind of devices that an administrator offers, with selectors and configuration for it."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.resource.request import DeviceSelector, OpaqueDeviceConfiguration
from dray.api.struct import ATOMIC, ApiStruct, always

__all__ = ["DeviceClass", "DeviceClassConfiguration", "DeviceClassSpec"]


class DeviceClassConfiguration(ApiStruct):
    """Configuration that goes with every device allocated through the class."""

    opaque: Annotated[OpaqueDeviceConfiguration | None, Meta(description="Parameters for one driver. Required.")] = None


class DeviceClassSpec(ApiStruct):
    """What a class means. May change; claims that are allocated keep what held at that time."""

    selectors: Annotated[
        tuple[DeviceSelector, ...],
        Meta(
            description="Conditions that a device of the class must meet, all of them. None at all admits every "
            "device. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    config: Annotated[
        tuple[DeviceClassConfiguration, ...],
        Meta(
            description="Configuration for drivers, handed on with each allocation through the class. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    extended_resource_name: Annotated[
        str | None,
        Meta(
            description="Name, such as example.com/gpu, under which pods may ask for devices of the class as an "
            "extended resource, without a claim. The youngest class of that name wins.",
        ),
    ] = None


class DeviceClass(ApiObject):
    """A kind of devices, named for users: what counts as one, and how it is configured."""

    spec: Annotated[DeviceClassSpec, Meta(description="What devices of the class are.")] = always(DeviceClassSpec)
