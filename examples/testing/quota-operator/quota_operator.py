"""An operator: a namespace with the label `example.com/gpus: "N"` may hold claims for N GPUs.

Written with the official client. It watches namespaces, and for each of them keeps one ResourceQuota.
"""

import threading

from kubernetes import client, watch
from kubernetes.client.exceptions import ApiException

LABEL = "example.com/gpus"
QUOTA = "gpus"
COUNTED = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"


def reconcile(api: client.ApiClient, namespace: str, gpus: str) -> None:
    """Bring the quota of one namespace to what its label asks. May be repeated."""
    core = client.CoreV1Api(api)
    quota = {"metadata": {"name": QUOTA}, "spec": {"hard": {COUNTED: gpus}}}
    try:
        core.create_namespaced_resource_quota(namespace, quota)
    except ApiException as refused:
        if refused.status != 409:
            raise
        core.patch_namespaced_resource_quota(QUOTA, namespace, quota)


def run(api: client.ApiClient, stop: threading.Event) -> None:
    """Follow the namespaces until told to stop."""
    core = client.CoreV1Api(api)
    while not stop.is_set():
        for event in watch.Watch().stream(core.list_namespace, label_selector=LABEL, timeout_seconds=1):
            if event["type"] != "DELETED":
                metadata = event["object"].metadata
                reconcile(api, metadata.name, metadata.labels[LABEL])
