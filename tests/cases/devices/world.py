"""Facts written tersely, for inventories and trees. Slices and devices are as in `tests/cases/allocator/terse.py`.

`nodes` are labels by name. `claims` by `namespace/name` have `users`, `node`, and `has`: `request: driver/pool/device`,
or that with `share` amounts or `admin`; `unready` gives the reason by device. `pods` by `namespace/name` have `claims`
by entry and `health`: a list of `[entry, identity, health, message]`. `rules` by name have a `taint` and what they
select.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dray.allocator.inventory import Facts
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.taintrule import DeviceTaintRule
from tests.cases.allocator.terse import Raw, decode, read_slices, read_taint

__all__ = ["list_users", "read_facts"]


def read_facts(case: Raw) -> Facts:
    """Everything that a case tells of."""
    return Facts(
        slices=read_slices(case),
        claims=[decode(_claim(*each), ResourceClaim) for each in case.get("claims", {}).items()],
        nodes=[
            decode({"metadata": {"name": name, "labels": labels}}, Node)
            for name, labels in case.get("nodes", {}).items()
        ],
        pods=[decode(_pod(*each), Pod) for each in case.get("pods", {}).items()],
        rules=[decode(_rule(*each), DeviceTaintRule) for each in case.get("rules", {}).items()],
    )


def _metadata(path: str) -> Raw:
    namespace, _, name = path.rpartition("/")
    return {"name": name, "namespace": namespace, "uid": path}


def _claim(path: str, terse: Raw) -> Raw:
    status: dict[str, Any] = {"reservedFor": list_users(terse.get("users", ()))}
    if "has" in terse:
        allocation: dict[str, Any] = {"devices": {"results": [*_results(terse["has"])]}}
        if "node" in terse:
            field = {"key": "metadata.name", "operator": "In", "values": [terse["node"]]}
            allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        status["allocation"] = allocation
    status["devices"] = [
        dict(zip(("driver", "pool", "device"), device.split("/"), strict=True))
        | {"conditions": [{"type": "Ready", "status": "False", "reason": reason}]}
        for device, reason in terse.get("unready", {}).items()
    ]
    return {"metadata": _metadata(path), "status": status}


def list_users(names: Iterable[str]) -> list[Raw]:
    """Pods by name, groups of pods as `podgroups/name`."""
    return [*map(_user, names)]


def _user(name: str) -> Raw:
    kind, _, bare = name.rpartition("/")
    if kind:
        return {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": bare, "uid": name}
    return {"resource": "pods", "name": name, "uid": name}


def _results(has: list[Any]) -> Iterator[Raw]:
    for number, each in enumerate(has):
        text, own = (each, {}) if isinstance(each, str) else next(iter(each.items()))
        request, _, device = text.partition(": ")
        result: dict[str, Any] = {"request": request}
        result |= zip(("driver", "pool", "device"), device.split("/"), strict=True)
        if "share" in own:
            result["shareID"] = f"00000000-0000-0000-0000-{number:012}"
            result["consumedCapacity"] = {key: str(amount) for key, amount in own["share"].items()}
        if own.get("admin"):
            result["adminAccess"] = True
        yield result


def _pod(path: str, terse: Raw) -> Raw:
    claims = terse.get("claims", {})
    reported: dict[str, list[Raw]] = {}
    for entry, identity, health, message in terse.get("health", ()):
        report = {"resourceID": identity, "health": health}
        reported.setdefault(entry, []).append(report | ({"message": message} if message else {}))
    container = {
        "name": "main",
        "allocatedResourcesStatus": [{"name": entry, "resources": reports} for entry, reports in reported.items()],
    }
    return {
        "metadata": _metadata(path),
        "spec": {"resourceClaims": [{"name": entry, "resourceClaimName": name} for entry, name in claims.items()]},
        "status": {"containerStatuses": [container]},
    }


def _rule(name: str, terse: Raw) -> Raw:
    selector = {key: terse[key] for key in ("driver", "pool", "device") if key in terse}
    return {"metadata": {"name": name}, "spec": {"deviceSelector": selector, "taint": read_taint(terse["taint"])}}
