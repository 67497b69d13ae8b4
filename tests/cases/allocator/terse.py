"""Worlds written tersely: what a case leaves out is one node `n1`, slices of generation 1, and a class for each driver.

A device is a name, or one key with its properties: `attributes` and `capacity` by name (values by their YAML type,
`v1.2.3` is a version), `draws` {set: {counter: amount}}, `groups`, `taints` ["key=value:Effect"], `shared`,
`conditions`. A wish is a count of class `any`, or properties; a list of wishes is a list of alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from dray.allocator.cluster import Cluster
from dray.api.core.node import Node
from dray.api.mending import decode_custom
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice

__all__ = ["NODE", "Raw", "cluster_of", "decode", "read_claims", "read_slices", "read_taint"]

T = TypeVar("T")
Raw = Mapping[str, Any]

NODE = "n1"
_VERSION = re.compile(r"v(\d+\.\d+\.\d+.*)")
_KINDS = {bool: "bool", int: "int", str: "string"}


def decode(raw: object, kind: type[T]) -> T:
    return msgspec.json.decode(msgspec.json.encode(raw), type=kind, dec_hook=decode_custom)


def cluster_of(case: Raw) -> Cluster:
    """The cluster that a case describes, with everything that is held."""
    node = {"metadata": {"name": NODE, "labels": case.get("labels", {})}}
    node["status"] = {"declaredFeatures": case.get("declares", [])}
    slices = read_slices(case)
    drivers = {each.spec.driver for each in slices}
    held = [*_held(case.get("held", ()))]
    return Cluster.of(
        [decode(node, Node)],
        slices,
        [decode(each, DeviceClass) for each in _classes(case.get("classes", {}), drivers)],
        [decode(each, ResourceClaim) for each in held],
    )


def read_slices(case: Raw) -> list[ResourceSlice]:
    """What is published: `slices`, and `devices` by driver."""
    slices = [*case.get("slices", ())]
    slices += [{"driver": driver, "devices": devices} for driver, devices in case.get("devices", {}).items()]
    return [decode(_slice(each, index), ResourceSlice) for index, each in enumerate(slices)]


def _classes(written: Mapping[str, Sequence[str]], drivers: set[str]) -> Iterator[Raw]:
    known = {"any": [], **{driver: [f"device.driver == '{driver}'"] for driver in drivers}, **written}
    for name, expressions in known.items():
        yield {"metadata": {"name": name}, "spec": {"selectors": _selectors(expressions)}}


def _selectors(expressions: Sequence[str | None]) -> list[Raw]:
    return [{} if each is None else {"cel": {"expression": each}} for each in expressions]


def _slice(terse: Raw, index: int) -> Raw:
    driver = terse.get("driver", "a")
    edition = {
        "name": terse.get("pool", "p"),
        "generation": terse.get("generation", 1),
        "resourceSliceCount": terse.get("of", 1),
    }
    spec: dict[str, Any] = {"driver": driver, "pool": edition, **terse.get("more", {})}
    where = terse.get("where", {"nodeName": terse.get("node", NODE)})
    spec |= where
    if "sets" in terse:
        spec["sharedCounters"] = [
            {"name": name, "counters": {key: {"value": str(amount)} for key, amount in counters.items()}}
            for name, counters in terse["sets"].items()
        ]
    else:
        spec["devices"] = [_device(each) for each in terse.get("devices", ())]
    return {"metadata": {"name": terse.get("name", f"{driver}-{index:02}")}, "spec": spec}


def _device(terse: str | Raw) -> Raw:
    if isinstance(terse, str):
        return {"name": terse}
    ((name, own),) = terse.items()
    device: dict[str, Any] = {"name": name, **own.get("more", {})}
    device["attributes"] = {key: _attribute(value) for key, value in own.get("attributes", {}).items()}
    device["capacity"] = {key: _capacity(value) for key, value in own.get("capacity", {}).items()}
    device["consumesCounters"] = [
        {
            "counterSet": set_name,
            "counters": {key: {"value": str(amount)} for key, amount in counters.items()},
            "compatibilityGroups": own.get("groups", []),
        }
        for set_name, counters in own.get("draws", {}).items()
    ]
    device["taints"] = [read_taint(each) for each in own.get("taints", ())]
    if own.get("shared"):
        device["allowMultipleAllocations"] = True
    if own.get("conditions"):
        device |= {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Failed"]}
    return device


def _attribute(value: Any) -> Raw:
    if value is None:
        return {}
    if isinstance(value, list):
        kinds = [next(iter(_attribute(each))) for each in value]
        return {f"{kinds[0]}s": [next(iter(_attribute(each).values())) for each in value]} if kinds else {"ints": []}
    if isinstance(value, str) and (match := _VERSION.fullmatch(value)):
        return {"version": match[1]}
    return {_KINDS[type(value)]: value}


def _capacity(value: Any) -> Raw:
    if not isinstance(value, dict):
        return {"value": str(value)}
    rule = value.get("range")
    policy: dict[str, Any] = {"default": None if "default" not in value else str(value["default"])}
    if rule:
        policy["validRange"] = {key: str(bound) for key, bound in rule.items()}
    if "values" in value:
        policy["validValues"] = [str(each) for each in value["values"]]
    return {"value": str(value["value"]), "requestPolicy": policy}


def read_taint(text: str) -> Raw:
    """`key=value:Effect`."""
    name, effect = text.split(":")
    key, _, value = name.partition("=")
    return {"key": key, "value": value, "effect": effect}


def _held(held: Sequence[str | Raw]) -> Iterator[Raw]:
    """Devices in use, as `driver/pool/device`, or with `share` amounts or `admin`."""
    for number, each in enumerate(held):
        text, own = (each, {}) if isinstance(each, str) else next(iter(each.items()))
        driver, pool, device = text.split("/")
        result: dict[str, Any] = {"request": "r", "driver": driver, "pool": pool, "device": device}
        if "share" in own:
            result["shareID"] = f"00000000-0000-0000-0000-{number:012}"
            result["consumedCapacity"] = {key: str(amount) for key, amount in own["share"].items()}
        if own.get("admin"):
            result["adminAccess"] = True
        status = {"allocation": {"devices": {"results": [result]}}}
        yield {"metadata": {"name": f"held-{number}", "namespace": "ns", "uid": f"h{number}"}, "status": status}


def read_claims(case: Raw) -> list[ResourceClaim]:
    """The claims to allocate."""
    return [decode(_claim(name, terse), ResourceClaim) for name, terse in case.get("claims", {}).items()]


def _claim(name: str, terse: Raw) -> Raw:
    requests = [_request(key, wish) for key, wish in terse.items() if key != "constraints"]
    constraints = [_constraint(each) for each in terse.get("constraints", ())]
    devices = {"requests": requests, "constraints": constraints}
    return {"metadata": {"name": name, "namespace": "ns", "uid": name}, "spec": {"devices": devices}}


def _request(name: str, wish: Any) -> Raw:
    if isinstance(wish, list):
        return {"name": name, "firstAvailable": [{"name": f"s{i}", **_wish(each)} for i, each in enumerate(wish)]}
    return {"name": name, "exactly": _wish(wish)}


def _wish(terse: Any) -> dict[str, Any]:
    own: dict[str, Any] = {"count": terse} if isinstance(terse, int) else terse
    wish: dict[str, Any] = {"deviceClassName": own.get("class", "any"), **own.get("more", {})}
    wish["allocationMode"] = own.get("mode", "All" if own.get("all") else "ExactCount")
    if not own.get("all"):
        wish["count"] = own.get("count", 1)
    wish["selectors"] = _selectors(own.get("where", ()))
    if "amounts" in own:
        wish["capacity"] = {"requests": {key: str(amount) for key, amount in own["amounts"].items()}}
    if "admin" in own:
        wish["adminAccess"] = own["admin"]
    if own.get("tolerates"):
        wish["tolerations"] = own["tolerates"]
    if "derives" in own:
        wish["derivedAttributes"] = [{"name": key, "expression": text} for key, text in own["derives"].items()]
    return wish


def _constraint(terse: Raw) -> Raw:
    names = {"match": "matchAttribute", "distinct": "distinctAttribute"}
    constraint: dict[str, Any] = {names[key]: value for key, value in terse.items() if key in names}
    if "of" in terse:
        constraint["requests"] = terse["of"]
    return constraint
