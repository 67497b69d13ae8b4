"""Pods and claims as the API server has them, for what is decided about them."""

from typing import Any

import msgspec

from dray.api.codec import get_codec
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM

__all__ = ["make_claim", "make_pod", "result"]


def make_pod(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> Pod:
    """A pod `ns/p` with uid `u` and a container `main`."""
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "x"}, "annotations": {"a/b": "c"}},
        "spec": {"containers": [{"name": "main", "image": "example/app:1"}]} | (spec or {}),
        "status": status or {},
    }
    return get_codec(POD, "v1").decode(msgspec.json.encode(body))


def result(driver: str, device: str, request: str = "gpu", **more: Any) -> dict[str, Any]:
    """A device that a claim was given."""
    return {"request": request, "driver": driver, "pool": "n", "device": device} | more


def make_claim(*results: dict[str, Any], reserved: Any = ("u",), owner: dict[str, Any] | None = None) -> ResourceClaim:
    """A claim `ns/c` with uid `c1`; without results it is not allocated."""
    metadata: dict[str, Any] = {"name": "c", "namespace": "ns", "uid": "c1"}
    if owner is not None:
        metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "controller": True} | owner]
    status: dict[str, Any] = {
        "reservedFor": [
            each if isinstance(each, dict) else {"resource": "pods", "name": "p", "uid": each} for each in reserved
        ]
    }
    if results:
        status["allocation"] = {"devices": {"results": list(results)}}
    body = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "status": status}
    return get_codec(RESOURCE_CLAIM, "v1").decode(msgspec.json.encode(body))
