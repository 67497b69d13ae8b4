"""`tpu.google.com`: the chips of a host, and the sub-slices that can be made of them.

The real driver publishes chips alone and prepares only all of a host at once. A sub-slice is a rectangle of chips that
draws on a counter for each of them, so that the scheduler cuts the host as claims come; see ADR 0021.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Self

from msgspec.structs import replace

from dray.api.resource.device import CounterSet, Device, DeviceAttribute, DeviceCounterConsumption
from dray.drivers.sim.attributes import count, flag, number, text
from dray.drivers.sim.part import Machine, Part
from dray.drivers.sim.pools import Blueprint

__all__ = ["DRIVER", "TpuPart"]

DRIVER: Final = "tpu.google.com"
_CHIPS: Final = "chips"


class TpuPart(Part, frozen=True, tag="tpu-chips"):
    """The chips of one host, which lie in `rows` of `columns`. `sub_slices` are the sizes that are cut on demand."""

    generation: str
    accelerator: str
    rows: int
    columns: int
    sub_slices: tuple[tuple[int, int], ...] = ()

    def choose(self, option: str, value: str) -> Self | None:
        """`whole` leaves the chips as the real driver publishes them."""
        return replace(self, sub_slices=()) if option == "whole" and self.sub_slices and not value else None

    def options(self) -> tuple[str, ...]:
        """None where there is nothing to cut."""
        return ("whole",) if self.sub_slices else ()

    def blueprints(self, machine: Machine) -> Sequence[Blueprint]:
        """Sub-slices come after the chips, smaller ones first, so that a small demand leaves large ones whole."""
        sets: list[CounterSet] = []
        if self.sub_slices:
            everything = {_counter(index): count(1) for index in range(self.rows * self.columns)}
            sets = [CounterSet(name=_CHIPS, counters=everything)]
        return [Blueprint.of(DRIVER, [*self._chips(), *self._list_sub_slices()], sets)]

    def _told(self, index: int, rows: int, columns: int) -> dict[str, DeviceAttribute]:
        return {
            "index": number(index),
            "uuid": DeviceAttribute(string="tpu-{uuid:host}"),
            "tpuGen": text(self.generation),
            "brand": text("Google"),
            "accelerator": text(self.accelerator),
            "chipCount": number(rows * columns),
            "topology": text(f"{rows}x{columns}"),
        }

    def _chips(self) -> Iterator[Device]:
        told: dict[str, DeviceAttribute] = {"subSlice": flag(False)} if self.sub_slices else {}
        for index in range(self.rows * self.columns):
            attributes = self._told(index, self.rows, self.columns) | told
            yield Device(name=str(index), attributes=attributes, consumes_counters=self._draw([index]))

    def _list_sub_slices(self) -> Iterator[Device]:
        for rows, columns in sorted(self.sub_slices):
            corners = (
                (row, column)
                for row in range(0, self.rows - rows + 1, rows)
                for column in range(0, self.columns - columns + 1, columns)
            )
            for index, (top, left) in enumerate(corners):
                chips = [
                    row * self.columns + column
                    for row in range(top, top + rows)
                    for column in range(left, left + columns)
                ]
                told = self._told(index, rows, columns) | {"subSlice": flag(True)}
                told["chips"] = text(",".join(map(str, chips)))
                name = f"slice-{rows}x{columns}-{index}"
                yield Device(name=name, attributes=told, consumes_counters=self._draw(chips))

    def _draw(self, chips: Sequence[int]) -> tuple[DeviceCounterConsumption, ...]:
        if not self.sub_slices:
            return ()
        counters = {_counter(index): count(1) for index in chips}
        return (DeviceCounterConsumption(counter_set=_CHIPS, counters=counters),)


def _counter(index: int) -> str:
    return f"chip-{index}"
