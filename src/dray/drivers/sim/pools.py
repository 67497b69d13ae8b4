"""Blueprints, from which every node gets the same devices, and the pools that come of them.

A blueprint is made once; `at` gives a node its own devices, which share everything with those of other nodes but their
identifiers. Those are written as patterns: `{node}`, `{uuid}` or `{number}` of the device itself, and `{uuid:gpu-0}` of
another one, so that the partitions of a card can name the card.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dray.api.core.nodeselector import NodeSelector
from dray.api.resource.device import CounterSet, Device, DeviceAttribute
from dray.driver.devices import Pool, Reach
from dray.drivers.sim.identity import derive_number, derive_uuid

__all__ = ["Blueprint", "Template", "draw_template"]

_BLANK: Final = re.compile(r"\{(node|uuid|number)(?::([^}]+))?\}")


class Template(Struct, frozen=True):
    """A device without what only its node can give it: attributes by name, with the pattern of their text."""

    device: Device
    blanks: tuple[tuple[str, str], ...] = ()


def draw_template(device: Device) -> Template:
    """Take the attributes whose text is a pattern for blanks."""
    blanks = tuple(
        (name, each.string)
        for name, each in device.attributes.items()
        if each.string is not None and _BLANK.search(each.string)
    )
    if not blanks:
        return Template(device)
    taken = dict(blanks)
    kept = {name: each for name, each in device.attributes.items() if name not in taken}
    return Template(replace(device, attributes=kept), blanks)


class Blueprint(Struct, frozen=True):
    """What one driver offers on every node of a profile, in the order in which it is to be tried.

    With a `reach`, several nodes reach the same devices: a pool of that name, published once.
    """

    driver: str
    templates: tuple[Template, ...]
    counter_sets: tuple[CounterSet, ...] = ()
    shared_pool: str = ""
    reach: NodeSelector | None = None

    @classmethod
    def of(cls, driver: str, devices: Iterable[Device], counter_sets: Sequence[CounterSet] = ()) -> "Blueprint":
        """A blueprint of devices some of whose texts are patterns."""
        return cls(driver, tuple(map(draw_template, devices)), tuple(counter_sets))

    def at(self, node: str) -> Pool:
        """The pool of one node. Costs a dict for each device that has an identifier, and nothing else."""
        texts: dict[tuple[str, str], DeviceAttribute] = {}
        devices = tuple(self._fill(template, node, texts) for template in self.templates)
        return Pool(
            devices=devices,
            name=self.shared_pool,
            counter_sets=self.counter_sets,
            reachable_from=Reach.NODE if self.reach is None else self.reach,
        )

    def _fill(self, template: Template, node: str, texts: dict[tuple[str, str], DeviceAttribute]) -> Device:
        if not template.blanks:
            return template.device
        device = template.device
        attributes = dict(device.attributes)
        for name, pattern in template.blanks:
            key = (pattern, "" if ":" in pattern else device.name)
            known = texts.get(key)
            if known is None:
                known = texts[key] = DeviceAttribute(string=_write(pattern, node, self.driver, device.name))
            attributes[name] = known
        return replace(device, attributes=attributes)


def _write(pattern: str, node: str, driver: str, device: str) -> str:
    def answer(match: re.Match[str]) -> str:
        what, whose = match.group(1), match.group(2) or device
        if what == "node":
            return node
        return derive_uuid(node, driver, whose) if what == "uuid" else str(derive_number(node, driver, whose))

    return _BLANK.sub(answer, pattern)
