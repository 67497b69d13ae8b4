"""Manifests judged with what dray knows: the API server's checks, the simulated profiles, a cluster if there is one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec

from dray.api.checks import CheckContext, ExpressionVerdict
from dray.api.registry import Registry
from dray.api.resource.device import Device
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE
from dray.app.offline import check_offline
from dray.app.wire import match_device
from dray.authoring.judging import Present, SchemaFault, SchemaVerdict
from dray.authoring.knowledge import Knowledge
from dray.client.port import ALL, Client
from dray.driver.config import ConfigError, decode_config
from dray.drivers.sim.catalog import list_profiles, parse_equipment
from dray.drivers.sim.fleet import list_configs
from dray.drivers.sim.part import ProfileError

__all__ = ["OfflineJudge", "ask_cluster", "know_profiles"]


class _ConfigHead(msgspec.Struct, rename="camel"):
    """Which kind a configuration says it is of."""

    api_version: str = ""


class OfflineJudge:
    """Judges as an API server would on a create."""

    def __init__(self, registry: Registry, context: CheckContext) -> None:
        self._registry = registry
        self._context = context

    def check(self, text: bytes) -> SchemaVerdict:
        """See `Judge`."""
        report = check_offline(text, self._registry, self._context)
        faults = tuple(SchemaFault(each.field, each.message, each.hint or "") for each in report.findings)
        return SchemaVerdict(faults, report.warnings)

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        """See `Judge`."""
        return self._context.judge_selector(expression)

    def matches(self, expression: str, driver: str, device: Device) -> bool | str:
        """See `Judge`."""
        return match_device(expression, driver, device)

    def judge_config(self, driver: str, parameters: bytes) -> str:
        """See `Judge`. Of a driver that is simulated only its own groups of kinds are known."""
        kinds = list_configs(driver)
        try:
            head = msgspec.json.decode(parameters, type=_ConfigHead)
        except msgspec.DecodeError:  # the API server's business
            return ""
        group = head.api_version.partition("/")[0]
        if not any(each.api_version.partition("/")[0] == group for each in kinds):
            return ""
        try:
            decode_config(parameters, kinds)
        except ConfigError as fault:
            return str(fault)
        return ""


def know_profiles() -> Knowledge:
    """What the simulated drivers publish, in every form that they have."""
    knowledge = Knowledge()
    for driver, devices, classes in _profiles():
        if devices:
            knowledge.guess_devices(driver, devices, "the simulated profiles")
        for each in classes:
            knowledge.guess_class(each)
    return knowledge


@cache
def _profiles() -> tuple[tuple[str, tuple[Device, ...], tuple[DeviceClass, ...]], ...]:
    return tuple(_read_profiles())


def _read_profiles() -> Iterator[tuple[str, tuple[Device, ...], tuple[DeviceClass, ...]]]:
    for text in _variants():
        try:
            equipment = parse_equipment(text)
        except ProfileError:  # an option that wants a value
            continue
        classes = tuple(equipment.classes())
        pools = [*equipment.pools("node"), *equipment.shared_pools()]
        for driver, pool in pools:
            yield driver, pool.devices, classes
        if not pools:
            yield "", (), classes


def _variants() -> Iterator[str]:
    for name in list_profiles():
        yield name
        options = {option for part in parse_equipment(name).parts for option in part.options()}
        yield from (f"{name}:{option}" for option in sorted(options))


async def ask_cluster(client: Client) -> tuple[Knowledge, Present]:
    """What is published in a cluster, and what is there to refer to."""
    knowledge = know_profiles()
    for piece in (await client.list(RESOURCE_SLICE, ALL)).items:
        knowledge.learn_slice(piece, "the cluster")
    classes = (await client.list(DEVICE_CLASS, ALL)).items
    for each in classes:
        knowledge.learn_class(each)
    templates = (await client.list(RESOURCE_CLAIM_TEMPLATE, ALL)).items
    claims = (await client.list(RESOURCE_CLAIM, ALL)).items
    return knowledge, Present(
        is_cluster=True,
        classes=frozenset(each.metadata.name for each in classes),
        templates=frozenset((each.metadata.namespace, each.metadata.name) for each in templates),
        claims=frozenset((each.metadata.namespace, each.metadata.name) for each in claims),
    )
