"""The plain search takes exactly the steps that kube-scheduler's own tests count for it."""

from __future__ import annotations

import pytest

from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.device import Device, DeviceAttribute
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.audit.world import World
from tests.properties.artist import NODE, select
from tests.properties.expressions import is_true
from tests.properties.oracle import Ending, answer_plainly
from tests.properties.worlds import CLASSES

ALL = 0


def of_kind(kind: str) -> tuple[str, ...]:
    return (f'device.attributes["gpu.x"].kind == "{kind}"',) if kind else ()


def terms(wish: tuple[int, str]) -> dict[str, object]:
    count, kind = wish
    return {
        "device_class_name": "any",
        "selectors": select(*of_kind(kind)),
        "allocation_mode": "All" if count == ALL else "ExactCount",
        "count": count,
    }


def request(number: int, wishes: list[tuple[int, str]]) -> DeviceRequest:
    if len(wishes) == 1:
        return DeviceRequest(name=f"r{number}", exactly=ExactDeviceRequest(**terms(wishes[0])))  # type: ignore[arg-type]
    return DeviceRequest(
        name=f"r{number}",
        first_available=tuple(
            DeviceSubRequest(name=f"s{index}", **terms(wish))  # type: ignore[arg-type]
            for index, wish in enumerate(wishes)
        ),
    )


def world(kinds: str, requests: list[list[tuple[int, str]]]) -> World:
    devices = tuple(
        Device(name=f"d{number}", attributes={"kind": DeviceAttribute(string=kind)})
        for number, kind in enumerate(kinds)
    )
    spec = ResourceSliceSpec(
        driver="gpu.x",
        node_name=NODE,
        pool=ResourcePool(name="p", generation=1, resource_slice_count=1),
        devices=devices,
    )
    claim = DeviceClaim(requests=tuple(request(number, wishes) for number, wishes in enumerate(requests)))
    return World(
        node=Node(metadata=ObjectMeta(name=NODE)),
        classes=CLASSES,
        slices=[ResourceSlice(metadata=ObjectMeta(name="s"), spec=spec)],
        allocated=[],
        claims=[ResourceClaim(metadata=ObjectMeta(name="c"), spec=ResourceClaimSpec(devices=claim))],
        is_true=is_true,
    )


@pytest.mark.parametrize(
    ("kinds", "requests", "ending", "steps"),
    [
        pytest.param("XXXX", [[(5, "")]], Ending.UNSCHEDULABLE, 16, id="five of four equal devices"),
        pytest.param("XYY", [[(2, "")], [(1, "X")]], Ending.ALLOCATED, 12, id="a broad request before a narrow one"),
        pytest.param(
            "XYY", [[(3, "Y"), (2, "")], [(2, ""), (1, "X")]], Ending.ALLOCATED, 26, id="the same with alternatives"
        ),
        pytest.param("X" * 64, [[(32, ""), (16, "")]] * 2, Ending.ALLOCATED, 75, id="alternatives around the limit"),
        pytest.param(
            "X" * 31 + "YY", [[(ALL, "X"), (2, "X")], [(2, "Y")]], Ending.ALLOCATED, 42, id="all devices at the limit"
        ),
    ],
)
def test_plain_search_takes_the_published_steps(
    kinds: str, requests: list[list[tuple[int, str]]], ending: Ending, steps: int
) -> None:
    answer = answer_plainly(world(kinds, requests))
    assert (answer.ending, answer.steps) == (ending, steps)
