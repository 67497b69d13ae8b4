"""What is known of drivers: what their devices publish, and which classes select them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from dray.api.resource.device import Device, DeviceAttribute
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from dray.authoring.spelling import find_meant

__all__ = ["FORMER_DOMAINS", "STANDARD_ATTRIBUTES", "STANDARD_DOMAIN", "DriverFacts", "Knowledge", "find_driver"]

STANDARD_DOMAIN: Final = "resource.kubernetes.io"
"""The domain of attributes that mean the same for every driver."""

FORMER_DOMAINS: Final = ("k8s.io", "kubernetes.io", "resource.k8s.io", "resources.kubernetes.io")
"""What that domain was once, or is taken for."""

STANDARD_ATTRIBUTES: Final = tuple(f"{STANDARD_DOMAIN}/{name}" for name in ("numaNode", "pciBusID", "pcieRoot"))
"""Attributes that drivers publish alike."""

_DRIVER = re.compile(r"""device\s*\.\s*driver(?:Name)?\s*==\s*(?:"([^"]+)"|'([^']+)')""")
_DOMAIN = re.compile(r"""\[\s*["']([^"']+)["']\s*\]""")
_VALUES: Final = ("string", "int", "bool", "version", "strings", "ints", "bools", "versions")


@dataclass(slots=True)
class DriverFacts:
    """What the devices of one driver publish. Names have their domain: `gpu.example.com/model`."""

    source: str
    """Where that is from, in words."""
    is_guessed: bool = False
    """Whether it is what drivers usually publish, not what is really there."""
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
    """Drivers and classes by name. What is really there goes before what is usual."""

    drivers: dict[str, DriverFacts] = field(default_factory=dict)
    classes: dict[str, DeviceClass] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)
    """Classes that are usual: what the reader has by their name may be another."""

    def learn_class(self, device_class: DeviceClass) -> None:
        """Take in a class that is really there, or will be."""
        self.classes[device_class.metadata.name] = device_class
        self.guessed.discard(device_class.metadata.name)

    def guess_class(self, device_class: DeviceClass) -> None:
        """Take in a class that may be there."""
        self.classes[device_class.metadata.name] = device_class
        self.guessed.add(device_class.metadata.name)

    def learn_slice(self, piece: ResourceSlice, source: str = "the input") -> None:
        """Take in the devices of a slice that is really there, or will be."""
        driver = piece.spec.driver
        if driver not in self.drivers or self.drivers[driver].is_guessed:
            self.drivers[driver] = DriverFacts(source)
        self._add(driver, piece.spec.devices or ())

    def guess_devices(self, driver: str, devices: Iterable[Device], source: str) -> None:
        """Take in devices such as a driver publishes."""
        facts = self.drivers.setdefault(driver, DriverFacts(source, is_guessed=True))
        if facts.is_guessed:
            self._add(driver, devices)

    def _add(self, driver: str, devices: Iterable[Device]) -> None:
        facts = self.drivers[driver]
        for device in devices:
            facts.devices.append(device)
            for name, attribute in device.attributes.items():
                facts.attributes.setdefault(_qualify(name, driver), set()).add(_type_of(attribute))
            facts.capacities.update(_qualify(name, driver) for name in device.capacity)

    def driver_of(self, class_name: str, expressions: Sequence[str] = ()) -> str:
        """The driver whose devices a request gets. Empty where nothing tells.

        Its own selectors tell best, then its class, then the domains that it reads, then the name of the class.
        """
        demanded = next(filter(None, map(find_driver, expressions)), "")
        if demanded or (class_name in self.classes and class_name not in self.guessed):
            return demanded or self._driver_of_class(class_name)
        read = [name for text in expressions for name in _DOMAIN.findall(text)]
        known = next((name for name in read if name in self.drivers), "")
        if known or class_name in self.classes:
            return known or self._driver_of_class(class_name)
        return next(filter(None, map(self._guess_driver, read)), class_name if "." in class_name else "")

    def _guess_driver(self, domain: str) -> str:
        """The driver that a domain may be of, if it is not that of attributes that all drivers have."""
        if "." not in domain or domain in FORMER_DOMAINS or domain == STANDARD_DOMAIN:
            return ""
        meant = find_meant(domain, [STANDARD_DOMAIN, *self.drivers])
        return "" if meant == STANDARD_DOMAIN else meant or domain

    def conditions_of(self, class_name: str, driver: str) -> list[str]:
        """The expressions of a class; of one that is guessed only if it is for that driver."""
        if class_name not in self.classes:
            return []
        if class_name in self.guessed and self._driver_of_class(class_name) not in ("", driver):
            return []
        return self._expressions_of_class(class_name)

    def find_sole_driver(self, class_name: str) -> str:
        """The driver whose devices are all of a class, and no others; empty if that cannot be said."""
        expressions = self._expressions_of_class(class_name) if class_name in self.classes else []
        driver = find_driver(expressions[0]) if len(expressions) == 1 else ""
        return driver if driver and _DRIVER.fullmatch(expressions[0].strip()) else ""

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
        return {*STANDARD_ATTRIBUTES, *(name for facts in self.drivers.values() for name in facts.attributes)}


def find_driver(expression: str) -> str:
    """The driver that an expression demands; empty if it demands none."""
    match = _DRIVER.search(expression)
    return (match[1] or match[2]) if match else ""


def _qualify(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _type_of(attribute: DeviceAttribute) -> str:
    values: Mapping[str, object] = {name: getattr(attribute, name) for name in _VALUES}
    return next((name for name, value in values.items() if value is not None), "")
