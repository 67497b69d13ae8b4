"""What is known of drivers: what their devices publish, and which classes select them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from dray.api.resource.device import Device, DeviceAttribute
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice

__all__ = ["STANDARD_DOMAIN", "DriverFacts", "Knowledge", "find_driver", "suggest"]

STANDARD_DOMAIN: Final = "resource.kubernetes.io"
"""The domain of attributes that mean the same for every driver."""

_DRIVER = re.compile(r"""device\s*\.\s*driver(?:Name)?\s*==\s*(?:"([^"]+)"|'([^']+)')""")
_DOMAIN = re.compile(r"""\[\s*["']([^"']+)["']\s*\]""")
_VALUES: Final = ("string", "int", "bool", "version", "strings", "ints", "bools", "versions")


@dataclass(slots=True)
class DriverFacts:
    """What the devices of one driver publish. Names have their domain: `gpu.example.com/model`."""

    attributes: dict[str, set[str]] = field(default_factory=dict)
    """The types that each attribute was seen with."""
    capacities: set[str] = field(default_factory=set)
    devices: list[Device] = field(default_factory=list)

    @property
    def domains(self) -> set[str]:
        """The domains of everything."""
        return {name.partition("/")[0] for name in [*self.attributes, *self.capacities]}


@dataclass(slots=True)
class Knowledge:
    """Drivers and classes by name. `source` says in words where it is from."""

    source: str = "the input"
    drivers: dict[str, DriverFacts] = field(default_factory=dict)
    classes: dict[str, DeviceClass] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)
    """Classes that profiles bring along: what the reader has by their name may be another."""

    def learn_class(self, device_class: DeviceClass) -> None:
        """Take in a class that is really there, or will be."""
        self.classes[device_class.metadata.name] = device_class
        self.guessed.discard(device_class.metadata.name)

    def guess_class(self, device_class: DeviceClass) -> None:
        """Take in a class that may be there."""
        self.classes[device_class.metadata.name] = device_class
        self.guessed.add(device_class.metadata.name)

    def learn_devices(self, driver: str, devices: Iterable[Device]) -> None:
        """Take in what devices publish."""
        facts = self.drivers.setdefault(driver, DriverFacts())
        for device in devices:
            facts.devices.append(device)
            for name, attribute in device.attributes.items():
                facts.attributes.setdefault(_qualify(name, driver), set()).add(_type_of(attribute))
            facts.capacities.update(_qualify(name, driver) for name in device.capacity)

    def learn_slice(self, piece: ResourceSlice) -> None:
        """Take in the devices of a slice."""
        self.learn_devices(piece.spec.driver, piece.spec.devices or ())

    def driver_of(self, class_name: str, expressions: Sequence[str] = ()) -> str:
        """The driver whose devices a request gets. Empty where nothing tells.

        Its own selectors tell best, then its class, then the domains that it reads, then the name of the class.
        """
        demanded = next(filter(None, map(find_driver, expressions)), "")
        if demanded or (class_name in self.classes and class_name not in self.guessed):
            return demanded or self._driver_of_class(class_name)
        read = next((name for text in expressions for name in _DOMAIN.findall(text) if name in self.drivers), "")
        if read or class_name in self.classes:
            return read or self._driver_of_class(class_name)
        return class_name if "." in class_name else ""

    def conditions_of(self, class_name: str, driver: str) -> list[str]:
        """The expressions of a class; of one that is guessed only if it is for that driver."""
        if class_name not in self.classes:
            return []
        if class_name in self.guessed and self._driver_of_class(class_name) not in ("", driver):
            return []
        return self._expressions_of_class(class_name)

    def _driver_of_class(self, name: str) -> str:
        return next(filter(None, map(find_driver, self._expressions_of_class(name))), "")

    def _expressions_of_class(self, name: str) -> list[str]:
        return [each.cel.expression for each in self.classes[name].spec.selectors if each.cel is not None]

    def class_for_resource(self, resource: str) -> str:
        """The class that serves an extended resource such as `nvidia.com/gpu`; empty if none is known."""
        names = (name for name, each in sorted(self.classes.items()) if each.spec.extended_resource_name == resource)
        return next(names, "")

    def names(self) -> set[str]:
        """Every attribute of every driver, with its domain."""
        return {name for facts in self.drivers.values() for name in facts.attributes}


def find_driver(expression: str) -> str:
    """The driver that an expression demands; empty if it demands none."""
    match = _DRIVER.search(expression)
    return (match[1] or match[2]) if match else ""


def suggest(name: str, known: Iterable[str], *, cutoff: float = 0.75) -> str:
    """The known name that may have been meant: like this one but for case, or nearly. Empty if there is none."""
    by_lower = {each.lower(): each for each in sorted(known)}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else ""


def _qualify(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _type_of(attribute: DeviceAttribute) -> str:
    values: Mapping[str, object] = {name: getattr(attribute, name) for name in _VALUES}
    return next((name for name, value in values.items() if value is not None), "")
