"""What the scheduler knows of the cluster, devices apart: nodes, the pods on them, and what is meant for them.

The scheduler's loop owns it and keeps it current; decisions read it. A pod that was decided on but is not yet bound is
put like any other, with `spec.node_name` filled in, and taken away again if binding fails. Objects are never changed,
only replaced. One owner; not for use by several threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from msgspec.structs import replace

from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.service import Service
from dray.api.policy.budget import PodDisruptionBudget
from dray.errors import InternalError
from dray.scheduler.core.disks import disks_of
from dray.scheduler.core.journal import Journal
from dray.scheduler.core.kin import Kin, Kinship
from dray.scheduler.core.nodeinfo import NodeInfo, PlacedPod, host_ports, priority_of
from dray.scheduler.core.resources import footprint_of
from dray.scheduler.core.terms import TermBook, terms_of

__all__ = ["Snapshot", "Trial"]

_FINISHED = frozenset({"Succeeded", "Failed"})

_REMEMBERED_LABELS = 10_000
"""Sets of labels for which it is known what services ask; pods of one template have one."""

ObjectKey = tuple[str, str]
"""Namespace and name."""


class Snapshot:
    """Facts, by which filters and scores judge.

    `names` are the nodes by number, in the order in which each name was first put, those that are gone included; a
    number never means another name. The allocator's `Cluster` counts in the same way, so that sets of node numbers
    (bit `i` is node `i`) mean the same to both, provided that both are told of nodes in the same order.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.present = 0
        """The nodes there are, as a set of numbers."""
        self.node_changes = Journal()
        """Nodes that came, went or were replaced."""
        self.changes = Journal()
        """The same, and nodes whose pods changed."""
        self.kinship = Kinship()
        self.terms = TermBook()
        """What pods on nodes say about other pods."""
        self._numbers: dict[str, int] = {}
        self._nodes: dict[str, NodeInfo] = {}
        self._pods: dict[str, PlacedPod] = {}
        self._pods_by_absent_node: dict[str, dict[str, PlacedPod]] = {}
        self.namespace_version = 0
        """Grows when labels of a namespace change."""
        self._pods_with_disks: dict[str, Pod] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._services: dict[ObjectKey, Service] = {}
        self._service_labels: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, str]] = {}
        self._budgets: dict[ObjectKey, PodDisruptionBudget] = {}
        self._nominated: dict[str, dict[str, Pod]] = {}
        self._nominations: dict[str, str] = {}

    def put_node(self, node: Node) -> None:
        """Add a node or replace it. Pods that were put for a node of this name before are on it at once."""
        name = node.metadata.name
        known = self._nodes.get(name)
        if known is not None:
            known.replace(node)
        else:
            self._add_node(name, node)
        self._note_node(self._numbers[name])

    def remove_node(self, name: str) -> None:
        """Forget a node. Its pods are kept, and are there again if the node is."""
        gone = self._nodes.pop(name, None)
        if gone is None:
            return
        self.present &= ~(1 << gone.number)
        if gone.pods:
            self._pods_by_absent_node[name] = dict(gone.pods)
        self._note_node(gone.number)

    def find_number(self, name: str) -> int | None:
        """The number of a node that is there."""
        known = self._nodes.get(name)
        return None if known is None else known.number

    def find_node(self, number: int) -> NodeInfo | None:
        """The node of a number, if it is there."""
        return self._nodes.get(self.names[number])

    def node(self, number: int) -> NodeInfo:
        """The node of a number. Raises if it is gone."""
        found = self._nodes.get(self.names[number])
        if found is None:
            raise InternalError(f"node {self.names[number]} is gone")
        return found

    def nodes(self) -> Iterator[NodeInfo]:
        """All nodes there are, by number."""
        return iter(sorted(self._nodes.values(), key=lambda node: node.number))

    def put_pod(self, pod: Pod) -> None:
        """Put a pod on the node its spec names, or replace it. A pod without a node, or that is finished, is removed.

        What its claims take of the node's own resources is read from its status, so an assumed pod carries it there.
        """
        self.remove_pod(pod.metadata.uid)
        if not pod.spec.node_name or pod.status.phase in _FINISHED:
            return
        self._place(PlacedPod(pod, Kin(pod), priority_of(pod), footprint_of(pod), host_ports(pod), terms_of(pod)))

    def remove_pod(self, uid: str) -> None:
        """Forget a pod on a node. One that is not known is a no-op."""
        placed = self._pods.get(uid)
        if placed is not None:
            self._displace(placed)

    def find_pod(self, uid: str) -> Pod | None:
        """The pod on a node with that uid."""
        placed = self._pods.get(uid)
        return None if placed is None else placed.pod

    def find_placed(self, uid: str) -> PlacedPod | None:
        """The same, with what it takes there."""
        return self._pods.get(uid)

    def pods_with_disks(self) -> tuple[Pod, ...]:
        """The pods on nodes that name disks outright. There are hardly any left in the world."""
        return tuple(self._pods_with_disks.values())

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Keep room for a pod on a node that is being cleared for it: pods of less priority must fit beside it."""
        self.withdraw(pod.metadata.uid)
        self._nominated.setdefault(node_name, {})[pod.metadata.uid] = pod
        self._nominations[pod.metadata.uid] = node_name

    def withdraw(self, uid: str) -> None:
        """Keep no more room for a pod. One that is not nominated is a no-op."""
        node_name = self._nominations.pop(uid, None)
        if node_name is not None:
            pods = self._nominated[node_name]
            del pods[uid]
            if not pods:
                del self._nominated[node_name]

    def nominated(self, node_name: str) -> tuple[Pod, ...]:
        """The pods for which room is kept on a node."""
        return tuple(self._nominated.get(node_name, {}).values())

    def nominated_names(self) -> tuple[str, ...]:
        """The nodes on which room is kept for some pod."""
        return tuple(self._nominated)

    def put_namespace(self, namespace: Namespace) -> None:
        """Add a namespace or replace it; terms about other pods may select by its labels."""
        if self._namespaces.get(namespace.metadata.name) != namespace.metadata.labels:
            self._namespaces[namespace.metadata.name] = namespace.metadata.labels
            self.namespace_version += 1

    def remove_namespace(self, name: str) -> None:
        """Forget a namespace."""
        if self._namespaces.pop(name, None) is not None:
            self.namespace_version += 1

    def namespace_labels(self, name: str) -> Mapping[str, str] | None:
        """The labels of a namespace; None if there is none of that name."""
        return self._namespaces.get(name)

    def put_service(self, service: Service) -> None:
        """Add a service or replace it; by default, pods of one service are spread."""
        self._service_labels.clear()
        self._services[service.metadata.namespace, service.metadata.name] = service

    def remove_service(self, namespace: str, name: str) -> None:
        """Forget a service."""
        self._service_labels.clear()
        self._services.pop((namespace, name), None)

    def service_labels(self, pod: Pod) -> Mapping[str, str]:
        """What all services that select the pod ask for together; nothing if none does."""
        key = (pod.metadata.namespace, tuple(sorted(pod.metadata.labels.items())))
        found = self._service_labels.get(key)
        if found is None:
            if len(self._service_labels) >= _REMEMBERED_LABELS:
                self._service_labels.clear()
            found = self._service_labels[key] = self._merge_services(pod)
        return found

    def put_disruption_budget(self, budget: PodDisruptionBudget) -> None:
        """Add a budget or replace it; preemption heeds what its status allows."""
        self._budgets[budget.metadata.namespace, budget.metadata.name] = budget

    def remove_disruption_budget(self, namespace: str, name: str) -> None:
        """Forget a budget."""
        self._budgets.pop((namespace, name), None)

    def disruption_budgets(self, namespace: str) -> tuple[PodDisruptionBudget, ...]:
        """The budgets of a namespace, by name."""
        return tuple(each for key, each in sorted(self._budgets.items()) if key[0] == namespace)

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """Pods may be put on nodes and taken off within the block; afterwards everything is as before."""
        trial = Trial(self._place, self)
        try:
            yield trial
        finally:
            trial.undo()

    def _merge_services(self, pod: Pod) -> dict[str, str]:
        labels = pod.metadata.labels
        merged: dict[str, str] = {}
        for (namespace, _), service in sorted(self._services.items()):
            wanted = service.spec.selector
            if wanted and namespace == pod.metadata.namespace and wanted.items() <= labels.items():
                merged.update(wanted)
        return merged

    def _add_node(self, name: str, node: Node) -> None:
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        added = self._nodes[name] = NodeInfo(number, node)
        for placed in self._pods_by_absent_node.pop(name, {}).values():
            added.add(placed)
        self.present |= 1 << number

    def _place(self, placed: PlacedPod) -> None:
        uid = placed.pod.metadata.uid
        # Those of one kin share one object, which may have come and gone while this pod was nowhere.
        placed = placed._replace(kin=self.kinship.join(placed.kin))
        self._pods[uid] = placed
        self.terms.add(placed.terms)
        if disks_of(placed.pod):
            self._pods_with_disks[uid] = placed.pod
        name = placed.pod.spec.node_name
        node = self._nodes.get(name)
        if node is None:
            self._pods_by_absent_node.setdefault(name, {})[uid] = placed
        else:
            node.add(placed)
            self.changes.note(node.number)

    def _displace(self, placed: PlacedPod) -> None:
        uid, name = placed.pod.metadata.uid, placed.pod.spec.node_name
        del self._pods[uid]
        self._pods_with_disks.pop(uid, None)
        self.kinship.leave(placed.kin)
        self.terms.remove(placed.terms)
        node = self._nodes.get(name)
        if node is not None:
            node.remove(uid)
            self.changes.note(node.number)
            return
        waiting = self._pods_by_absent_node.get(name, {})
        waiting.pop(uid, None)
        if not waiting:
            self._pods_by_absent_node.pop(name, None)

    def _note_node(self, number: int) -> None:
        self.node_changes.note(number)
        self.changes.note(number)


class Trial:
    """Changes of pods that will be undone, the latest first."""

    def __init__(self, put: Callable[[PlacedPod], None], snapshot: Snapshot) -> None:
        self._put = put
        self._snapshot = snapshot
        self._before: list[tuple[str, PlacedPod | None]] = []

    def put_on(self, pod: Pod, node_name: str) -> None:
        """Put a pod on a node of that name."""
        self._remember(pod.metadata.uid)
        self._snapshot.put_pod(replace(pod, spec=replace(pod.spec, node_name=node_name)))

    def put_back(self, placed: PlacedPod) -> None:
        """Put a pod back that was taken away."""
        self._remember(placed.pod.metadata.uid)
        self._put(placed)

    def remove(self, uid: str) -> None:
        """Take a pod off its node."""
        self._remember(uid)
        self._snapshot.remove_pod(uid)

    def undo(self) -> None:
        """Go back to how it was."""
        while self._before:
            uid, placed = self._before.pop()
            self._snapshot.remove_pod(uid)
            if placed is not None:
                self._put(placed)

    def _remember(self, uid: str) -> None:
        self._before.append((uid, self._snapshot.find_placed(uid)))
