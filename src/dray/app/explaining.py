"""`dray explain`: from names or manifests to accounts, against whatever the client reaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from dray.api.core.kinds import POD
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.app.rehearsal import Facts, Rehearsal, SubjectError, read_facts
from dray.client.port import Client, ObjectName
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy, SystemEntropy
from dray.scheduler.core.accounts import Account
from dray.scheduler.core.moment import Moment

__all__ = ["EXPLAINED", "Answer", "Subject", "explain_manifests", "explain_subject"]

EXPLAINED: Final[tuple[AnyKind, ...]] = (POD, RESOURCE_CLAIM)
"""Kinds of which account is given; other manifests are what these need."""


class Answer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Accounts in the order in which they were asked for."""

    accounts: tuple[Account, ...]
    unread: tuple[str, ...] = ()
    """Kinds that may not be read: accounts are given as if there were none of them."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be explained."""

    kind: AnyKind
    name: ObjectName


def _rehearse(facts: Facts, clock: Clock, entropy: Entropy) -> Rehearsal:
    return Rehearsal(facts, Moment(clock.monotonic(), clock.now()), entropy.uid)


async def explain_subject(client: Client, subject: Subject, clock: Clock) -> Answer:
    """Explain what is there. Raises SubjectError, ApiError."""
    facts = await read_facts(client)
    rehearsal = _rehearse(facts, clock, SystemEntropy())
    if subject.kind is POD:
        return Answer((rehearsal.explain_pod(subject.name),), facts.unread)
    return Answer((rehearsal.explain_claim(subject.name),), facts.unread)


async def explain_manifests(client: Client, things: Sequence[tuple[AnyKind, ApiObject]], clock: Clock) -> Answer:
    """Explain what would become of manifests, one after the other, if they were applied. Raises SubjectError, ApiError.

    Claims that a pod among them uses are explained with the pod.
    """
    subjects = [
        Subject(kind, ObjectName(thing.metadata.name, thing.metadata.namespace))
        for kind, thing in things
        if kind in EXPLAINED
    ]
    if not subjects:
        kinds = ", ".join(sorted({kind.name for kind, _ in things}))
        raise SubjectError(f"there is no pod and no claim among the objects, only {kinds}", "a file with a Pod in it")
    read = await read_facts(client)
    facts = read.with_manifests(things)
    there = {(each.metadata.namespace, each.metadata.name) for each in read.list(POD)}
    rehearsal = _rehearse(facts, clock, SystemEntropy())
    pods = [each.name for each in subjects if each.kind is POD]
    accounts = [
        rehearsal.explain_pod(each.name, is_new=(each.name.namespace, each.name.name) not in there)
        if each.kind is POD
        else rehearsal.explain_claim(each.name)
        for each in subjects
        if each.kind is POD or not rehearsal.names_claim(pods, each.name)
    ]
    return Answer(tuple(accounts), facts.unread)
