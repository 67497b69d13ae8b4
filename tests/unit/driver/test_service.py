"""Preparing and unpreparing: the same question has the same answer, and nothing is given twice or forgotten."""

import asyncio
import dataclasses
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from dray.api.resource.allocation import ResourceClaimStatus
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.port import ObjectName
from dray.driver import AllocatedDevice, Claim, ClaimRef, ContainerEdits, Prepared, env
from dray.driver.checkpoint import CheckpointMemory, ClaimState
from dray.driver.local import LocalDriver, LocalNode
from dray.driver.metrics import Operation
from dray.driver.service import PrepareAnswer
from tests.unit.driver.world import EchoConfig, EchoDriver, Wanted, World, open_world


async def prepare(local: LocalDriver, claim: ClaimRef) -> PrepareAnswer:
    return (await local.host.claims.prepare([claim]))[claim.uid]


async def unprepare(local: LocalDriver, claim: ClaimRef) -> str:
    return (await local.host.claims.unprepare([claim]))[claim.uid].error


def cdi_env(world: World, claim: ClaimRef) -> dict[str, tuple[str, ...]]:
    spec = world.cdi.specs[f"k8s.echo.example.com-claim_{claim.uid}"]
    return {each.name.removeprefix(f"{claim.uid}-"): each.container_edits.env for each in spec.devices}


def test_prepared_claim_names_devices_that_a_cdi_file_describes() -> None:
    async def scenario() -> None:
        async with open_world() as world, world.start(EchoDriver()) as local:
            claim = await world.allocate("claim-1", Wanted(device="echo-1", request="big/large"), "echo-2")
            answer = await prepare(local, claim)
            kind = "k8s.echo.example.com/claim"
            assert [(each.key.request, each.key.pool, each.key.device) for each in answer.devices] == [
                ("big", "node-a", "echo-1"),
                ("device", "node-a", "echo-2"),
            ]
            assert [each.cdi_names for each in answer.devices] == [
                (f"{kind}={claim.uid}-echo-1",),
                (f"{kind}={claim.uid}-echo-2",),
            ]
            assert cdi_env(world, claim) == {"echo-1": ("ECHO_ECHO_1=hello",), "echo-2": ("ECHO_ECHO_2=hello",)}

    asyncio.run(scenario())


def test_second_call_has_the_same_answer_without_the_driver() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            claim = await world.allocate("claim-1", "echo-0")
            first = await prepare(local, claim)
            world.cdi.remove(f"k8s.echo.example.com-claim_{claim.uid}")
            assert await prepare(local, claim) == first
            assert driver.calls.count("prepare claim-1") == 1
            assert cdi_env(world, claim) == {"echo-0": ("ECHO_ECHO_0=hello",)}, "a file that was lost is back"

    asyncio.run(scenario())


def test_calls_for_one_claim_wait_for_each_other_and_those_for_others_do_not() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            claims = [await world.allocate(f"claim-{number}", f"echo-{number}") for number in (1, 2)]
            driver.gate = asyncio.Event()
            calls = [asyncio.ensure_future(prepare(local, claim)) for claim in (*claims, claims[0])]
            await world.settle()
            assert [each for each in driver.calls if "prepare" in each] == ["prepare claim-1", "prepare claim-2"]
            driver.gate.set()
            answers = await asyncio.gather(*calls)
            assert answers[0] == answers[2]
            assert driver.calls.count("prepare claim-1") == 1

    asyncio.run(scenario())


def test_one_claim_at_a_time_where_the_driver_asks_for_it() -> None:
    class Careful(EchoDriver):
        one_claim_at_a_time = True

    async def scenario() -> None:
        driver = Careful()
        async with open_world() as world, world.start(driver) as local:
            claims = [await world.allocate(f"claim-{number}", f"echo-{number}") for number in (1, 2)]
            driver.gate = asyncio.Event()
            calls = [asyncio.ensure_future(prepare(local, claim)) for claim in claims]
            await world.settle()
            assert len([each for each in driver.calls if "prepare" in each]) == 1
            driver.gate.set()
            assert [answer.error for answer in await asyncio.gather(*calls)] == ["", ""]

    asyncio.run(scenario())


def test_call_runs_to_its_end_though_the_caller_gave_up() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            claim = await world.allocate("claim-1", "echo-0")
            driver.gate = asyncio.Event()
            call = asyncio.ensure_future(prepare(local, claim))
            await world.settle()
            call.cancel()
            driver.gate.set()
            await local.host.claims.idle.wait()
            assert (await prepare(local, claim)).error == ""
            assert driver.calls.count("prepare claim-1") == 1

    asyncio.run(scenario())


def test_one_claim_that_fails_fails_alone() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            good, bad = await world.allocate("good", "echo-0"), await world.allocate("bad", "echo-1")
            gone = ClaimRef(namespace="default", name="gone", uid="no-such-uid")

            def fail(call: str) -> None:
                if call == "prepare bad":
                    raise RuntimeError("the card does not answer")

            driver.fail = fail
            answers = await local.host.claims.prepare([good, bad, gone])
            assert answers[good.uid].devices
            assert answers[bad.uid].error == "RuntimeError: the card does not answer"
            assert "not found" in answers[gone.uid].error
            driver.fail = lambda call: None
            assert (await prepare(local, bad)).error == ""

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["replaced", "unallocated"])
def test_claim_that_is_not_what_was_asked_for_is_refused(name: str) -> None:
    async def scenario() -> None:
        async with open_world() as world, world.start(EchoDriver()) as local:
            claim = await world.allocate("claim-1", "echo-0")
            if name == "replaced":
                asked = replace(claim, uid="another-uid")
            else:
                asked = claim
                stored = await world.client.get(RESOURCE_CLAIM, ObjectName("claim-1", "default"))
                bare = replace(stored, status=ResourceClaimStatus())
                await world.client.update(RESOURCE_CLAIM, bare, subresource="status")
            error = (await prepare(local, asked)).error
            assert ("got replaced" if name == "replaced" else "not allocated") in error
            assert world.cdi.specs == {}

    asyncio.run(scenario())


def test_device_that_a_claim_holds_is_not_given_to_another() -> None:
    async def scenario() -> None:
        async with open_world() as world, world.start(EchoDriver()) as local:
            first, second = [await world.allocate(name, "echo-0") for name in ("first", "second")]
            assert (await prepare(local, first)).error == ""
            assert (await prepare(local, second)).error == "device node-a/echo-0 is in use by claim default/first"
            assert await unprepare(local, first) == ""
            assert (await prepare(local, second)).error == ""

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["shares", "administration"])
def test_device_may_be_held_twice_by(kind: str) -> None:
    async def scenario() -> None:
        shares = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"]
        async with open_world() as world, world.start(EchoDriver()) as local:
            holders = [
                Wanted(device="echo-0", share_id=share if kind == "shares" else None, admin_access=admin)
                for share, admin in zip(shares, (False, kind == "administration"), strict=True)
            ]
            for number, holder in enumerate(holders):
                claim = await world.allocate(f"claim-{number}", holder)
                assert (await prepare(local, claim)).error == ""

    asyncio.run(scenario())


def test_claim_that_is_long_gone_gives_its_device_back_first() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            lost, new = [await world.allocate(name, "echo-0") for name in ("lost", "new")]
            await prepare(local, lost)
            await world.client.delete(RESOURCE_CLAIM, ObjectName("lost", "default"))
            assert (await prepare(local, new)).error == ""
            assert driver.calls[-2:] == ["unprepare lost", "prepare new"]
            assert list(world.cdi.specs) == [f"k8s.echo.example.com-claim_{new.uid}"]

    asyncio.run(scenario())


def test_claim_that_was_allocated_anew_gives_its_old_devices_back_first() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            claim = await world.allocate("claim-1", "echo-0")
            await prepare(local, claim)
            other = await world.allocate("claim-2", "echo-1")
            record = world.node.checkpoint.find(claim.uid)
            assert record is not None
            moved = replace(record, claim=other)
            await world.node.checkpoint.remove(claim.uid)
            await world.node.checkpoint.put(moved)
            assert [each.key.device for each in (await prepare(local, other)).devices] == ["echo-1"]
            assert driver.calls[-2:] == ["unprepare claim-2", "prepare claim-2"]

    asyncio.run(scenario())


def test_unprepare_of_an_unknown_claim_is_done_already() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            unknown = ClaimRef(namespace="default", name="never", uid="never")
            assert await unprepare(local, unknown) == ""
            assert "unprepare never" not in driver.calls

    asyncio.run(scenario())


def test_unprepare_hands_back_the_memo_and_leaves_nothing_behind() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            config = EchoConfig(greeting="good day")
            claim = await world.allocate("claim-1", Wanted(device="echo-0", config=config))
            await prepare(local, claim)
            assert await unprepare(local, claim) == ""
            (released,) = driver.released
            assert released.is_complete
            assert [(each.name, dict(each.memo)) for each in released.devices] == [("echo-0", {"greeting": "good day"})]
            assert world.node.checkpoint.records() == []
            assert world.cdi.specs == {}
            assert await unprepare(local, claim) == ""

    asyncio.run(scenario())


def test_unprepare_that_failed_is_tried_again_and_the_claim_no_longer_counts_as_prepared() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            claim = await world.allocate("claim-1", "echo-0")
            await prepare(local, claim)

            def fail(call: str) -> None:
                if call.startswith("unprepare"):
                    raise OSError("busy")

            driver.fail = fail
            assert await unprepare(local, claim) == "OSError: busy"
            record = world.node.checkpoint.find(claim.uid)
            assert record is not None
            assert record.state is ClaimState.RELEASING
            driver.fail = lambda call: None
            await prepare(local, claim)
            assert driver.calls.count("prepare claim-1") == 2
            assert await unprepare(local, claim) == ""

    asyncio.run(scenario())


def test_driver_that_died_while_preparing_is_asked_again_or_to_take_back_all_it_was_asked_for() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world:
            async with world.start(driver) as local:
                claim = await world.allocate("claim-1", "echo-0", "echo-1")

                def fail(call: str) -> None:
                    if call.startswith("prepare"):
                        raise RuntimeError("dies")

                driver.fail = fail
                await prepare(local, claim)
            successor = EchoDriver()
            async with world.start(successor) as local:
                assert await unprepare(local, claim) == ""
                (released,) = successor.released
                assert not released.is_complete
                assert [each.name for each in released.devices] == ["echo-0", "echo-1"]

    asyncio.run(scenario())


def test_reboot_makes_claims_be_prepared_again() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world, world.start(driver) as local:
            claim = await world.allocate("claim-1", "echo-0")
            await prepare(local, claim)
            record = world.node.checkpoint.find(claim.uid)
            assert record is not None
            await world.node.checkpoint.put(replace(record, boot_id="an earlier one"))
            await prepare(local, claim)
            assert driver.calls.count("prepare claim-1") == 2

    asyncio.run(scenario())


def test_orphaned_cdi_files_go_when_a_driver_starts() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world:
            async with world.start(driver) as local:
                claim = await world.allocate("claim-1", "echo-0")
                await prepare(local, claim)
            spec = world.cdi.specs[f"k8s.echo.example.com-claim_{claim.uid}"]
            world.cdi.specs["k8s.echo.example.com-claim_orphan"] = spec
            world.cdi.specs["k8s.other.example.com-claim_foreign"] = spec
            async with world.start(EchoDriver()):
                assert sorted(world.cdi.specs) == [
                    f"k8s.echo.example.com-claim_{claim.uid}",
                    "k8s.other.example.com-claim_foreign",
                ]

    asyncio.run(scenario())


@pytest.mark.parametrize("answer", ["nothing", "twice"])
def test_driver_must_answer_every_device_once(answer: str) -> None:
    class Sloppy(EchoDriver):
        async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
            ready = [each.prepared() for each in devices]
            return Prepared.of([] if answer == "nothing" else ready * 2)

    async def scenario() -> None:
        async with open_world() as world, world.start(Sloppy()) as local:
            claim = await world.allocate("claim-1", "echo-0")
            assert "must answer each of node-a/echo-0 once" in (await prepare(local, claim)).error
            assert world.cdi.specs == {}

    asyncio.run(scenario())


def test_common_edits_are_a_device_that_every_device_asks_for() -> None:
    async def scenario() -> None:
        driver = EchoDriver()
        driver.common = ContainerEdits(env=env(NODE="node-a"))
        async with open_world() as world, world.start(driver) as local:
            claim = await world.allocate("claim-1", "echo-0", "echo-1")
            answer = await prepare(local, claim)
            common = f"k8s.echo.example.com/claim={claim.uid}-common"
            assert [each.cdi_names[0] for each in answer.devices] == [common, common]
            assert cdi_env(world, claim)["common"] == ("NODE=node-a",)

    asyncio.run(scenario())


def test_checkpoint_that_cannot_be_written_fails_the_claim_and_gives_nothing_away() -> None:
    class Full(CheckpointMemory):
        async def put(self, record: object) -> None:
            raise OSError(28, "No space left on device")

    async def scenario() -> None:
        driver = EchoDriver()
        async with open_world() as world:
            world.node = replace_checkpoint(world, Full())
            async with world.start(driver) as local:
                claim = await world.allocate("claim-1", "echo-0")
                assert "No space left on device" in (await prepare(local, claim)).error
                assert "prepare claim-1" not in driver.calls

    asyncio.run(scenario())


def replace_checkpoint(world: World, checkpoint: CheckpointMemory) -> LocalNode:
    return dataclasses.replace(world.node, checkpoint=checkpoint)


def test_metrics_tell_claims_and_failures() -> None:
    async def scenario() -> None:
        async with open_world() as world, world.start(EchoDriver()) as local:
            claim = await world.allocate("claim-1", "echo-0")
            await prepare(local, claim)
            text = world.node.metrics.render().decode()
            assert 'dra_resource_claims_in_use{driver_name="echo.example.com"} 1.0' in text
            labels = f'driver_name="echo.example.com",is_error="false",operation_name="{Operation.PREPARE}"'
            assert f"dra_operations_duration_seconds_count{{{labels}}} 1.0" in text
            await unprepare(local, claim)
            assert (
                'dra_resource_claims_in_use{driver_name="echo.example.com"} 0.0' in world.node.metrics.render().decode()
            )

    asyncio.run(scenario())
