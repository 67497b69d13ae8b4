"""Heartbeats: the Lease of every node of a process, renewed in turn, and the status of its Node now and then.

Nodes are spread over the period, a small batch at a time, so that a thousand nodes are a steady trickle of writes.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from dray.api.coordination.kinds import LEASE
from dray.api.coordination.lease import Lease, LeaseSpec
from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta, OwnerReference
from dray.client.port import ObjectName, Unreachable
from dray.errors import AlreadyExists, ApiError, Conflict, NotFound
from dray.node.registration import NodeFacts, register_node
from dray.node.surroundings import Surroundings

__all__ = ["RENEW_SECONDS", "Heartbeat"]

RENEW_SECONDS: Final = 10.0
_LEASE_SECONDS: Final = 40
_STATUS_SECONDS: Final = 300.0
"""How often a Node's status is confirmed; between, the Lease alone says that the agent lives."""
_NAMESPACE: Final = "kube-node-lease"
_TICK_SECONDS: Final = 0.25


@dataclass(eq=False, slots=True)
class _Member:
    facts: NodeFacts
    node: Node
    due: float
    status_due: float
    lease: Lease | None = None


@dataclass(slots=True)
class Heartbeat:
    """Keeps nodes alive. Owns their leases."""

    around: Surroundings
    _members: list[_Member] = field(default_factory=list)

    async def add(self, facts: NodeFacts, node: Node) -> None:
        """Keep a registered node alive from now on. Raises ApiError, Unreachable if its lease cannot be written."""
        clock, entropy = self.around.clock, self.around.entropy
        now = clock.monotonic()
        # The first renewal comes at any moment of the period, so that nodes that begin together do not stay so.
        due = now + RENEW_SECONDS * (entropy.jitter(1.0, 1.0) - 1.0)
        member = _Member(facts, node, due, now + entropy.jitter(_STATUS_SECONDS))
        await self._renew(member)
        self._members.append(member)

    async def run(self) -> None:
        """Renew until cancelled. Run it once, in a task of its own."""
        while True:
            now = self.around.clock.monotonic()
            due = [each for each in self._members if each.due <= now]
            if due:
                await asyncio.gather(*(self._beat(each, now) for each in due))
            await self.around.clock.sleep(_TICK_SECONDS)

    async def _beat(self, member: _Member, now: float) -> None:
        member.due = now + RENEW_SECONDS
        try:
            await self._renew(member)
            if member.status_due <= now:
                member.status_due = now + self.around.entropy.jitter(_STATUS_SECONDS)
                await register_node(self.around.client, member.facts, self.around.clock.now().to_time())
        except (ApiError, Unreachable) as fault:
            self.around.log.error("heartbeat failed", node=member.facts.name, err=fault)

    async def _renew(self, member: _Member) -> None:
        client, now = self.around.client, self.around.clock.now()
        if member.lease is not None:
            renewed = replace(member.lease, spec=replace(member.lease.spec, renew_time=now))
            try:
                member.lease = await client.update(LEASE, renewed)
            except (Conflict, NotFound):
                member.lease = None
            else:
                return
        await self._restore_node(member)
        name, uid = member.facts.name, member.node.metadata.uid
        owner = OwnerReference(api_version="v1", kind=NODE.name, name=name, uid=uid)
        spec = LeaseSpec(holder_identity=name, lease_duration_seconds=_LEASE_SECONDS, renew_time=now)
        meta = ObjectMeta(name=name, namespace=_NAMESPACE, owner_references=(owner,))
        try:
            member.lease = await client.create(LEASE, Lease(metadata=meta, spec=spec))
        except AlreadyExists:
            old = await client.get(LEASE, ObjectName(name, _NAMESPACE))
            taken = replace(old, metadata=replace(old.metadata, owner_references=(owner,)), spec=spec)
            member.lease = await client.update(LEASE, taken)

    async def _restore_node(self, member: _Member) -> None:
        """Register the node again if somebody deleted it: a living agent has a Node."""
        try:
            member.node = await self.around.client.get(NODE, ObjectName(member.facts.name))
        except NotFound:
            member.node = await register_node(self.around.client, member.facts, self.around.clock.now().to_time())
