import pytest

from dray.api.checks import CheckContext
from dray.api.registry import SERVED
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_SLICE
from dray.api.writing import plan_create
from dray.app.wire import wire_offline_context
from dray.drivers.sim.catalog import find_profile, list_profiles, parse_equipment
from dray.drivers.sim.nvidia.models import load_models
from dray.drivers.sim.part import ProfileError
from dray.effects.clock import FakeClock
from tests.golden.test_profiles import VARIANTS
from tests.unit.drivers.slicing import slices_of

ISSUED = [
    "t4-vm",
    "dgx-a100",
    "dgx-h100",
    "gh200",
    "gb200-nvl72",
    "rdma-nic",
    "mi300x",
    "tpu-v5e-8",
    "tpu-v6e-8",
    "gaudi3",
    "intel-flex",
    "intel-qat",
    "furiosa-rngd",
    "fpga",
    "fabric",
    "gpu-16gi",
    "example",
    "dranet",
    "cpu",
    "mixed-gpus",
]
EVERYTHING = [*ISSUED, *VARIANTS]


@pytest.fixture(scope="module")
def context() -> CheckContext:
    return wire_offline_context(FakeClock())


def test_profiles_are_those_promised() -> None:
    assert sorted([*ISSUED, "plain"]) == list_profiles()


@pytest.mark.parametrize("text", EVERYTHING)
def test_published_slices_are_valid(text: str, context: CheckContext) -> None:
    for each in slices_of(parse_equipment(text), "node-a", "node-b"):
        assert plan_create(RESOURCE_SLICE, each, context).faults == (), each.metadata.name


@pytest.mark.parametrize("text", ISSUED)
def test_classes_are_valid(text: str, context: CheckContext) -> None:
    classes = parse_equipment(text).classes()
    assert classes
    for each in classes:
        assert plan_create(DEVICE_CLASS, each, context).faults == (), each.metadata.name


@pytest.mark.parametrize("text", EVERYTHING)
def test_devices_of_two_nodes_share_what_they_can(text: str) -> None:
    equipment = parse_equipment(text)
    for (_, one), (_, other) in zip(equipment.pools("node-a"), equipment.pools("node-b"), strict=True):
        assert one.counter_sets is other.counter_sets
        for here, there in zip(one.devices, other.devices, strict=True):
            assert here.capacity is there.capacity
            assert here.consumes_counters is there.consumes_counters
            texts = [name for name in here.attributes if here.attributes[name] is not there.attributes[name]]
            assert set(texts) <= {"uuid", "parentUUID", "serial", "deviceID", "parentDeviceID"}


@pytest.mark.parametrize("text", EVERYTHING)
def test_identifiers_tell_nodes_apart_and_stay(text: str) -> None:
    equipment = parse_equipment(text)
    for (_, one), (_, again), (_, other) in zip(
        equipment.pools("node-a"), equipment.pools("node-a"), equipment.pools("node-b"), strict=True
    ):
        assert one == again
        for here, there in zip(one.devices, other.devices, strict=True):
            uuid = here.attributes.get("uuid")
            if uuid is not None and uuid.string is not None and not here.name.startswith("gpu-vfio"):
                assert uuid != there.attributes["uuid"]


@pytest.mark.parametrize("name", ISSUED)
def test_what_is_not_certain_is_said(name: str) -> None:
    profile = find_profile(name)
    assert profile.unconfirmed or name == "example"
    assert profile.title


def test_unconfirmed_facts_of_a_model_are_facts_of_it() -> None:
    for name, model in load_models().items():
        for fact in model.unconfirmed:
            head, _, rest = fact.partition(".")
            field = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in head)
            assert hasattr(model, field), (name, fact)
            if rest:
                shapes = {each.shape for each in model.mig}
                assert rest in shapes | {"memory", "jpegEngines"}, (name, fact)


def test_profiles_combine() -> None:
    equipment = parse_equipment("gb200-nvl72 + rdma-nic")
    assert equipment.drivers == ("gpu.nvidia.com", "compute-domain.nvidia.com", "rdma.nvidia.com")
    assert equipment.nodes == 18
    assert equipment.shape.architecture == "arm64"
    assert equipment.labels(17)["nvidia.com/gpu.clique"].endswith(".0")
    assert equipment.labels(18)["nvidia.com/gpu.clique"].endswith(".1")


def test_interfaces_sit_beside_the_accelerators_of_another_profile() -> None:
    pools = dict(parse_equipment("gh200+rdma-nic").pools("a"))
    root = "resource.kubernetes.io/pcieRoot"
    (gpu,) = pools["gpu.nvidia.com"].devices
    assert {each.attributes[root] for each in pools["rdma.nvidia.com"].devices} == {gpu.attributes[root]}


def test_storage_interfaces_have_no_virtual_functions() -> None:
    pools = dict(parse_equipment("dgx-h100+rdma-nic").pools("a"))
    assert len(pools["rdma.nvidia.com"].devices) == 8 * 8


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("dgx-h10", "did you mean dgx-h100?"),
        ("nothing-like-it", "there are cpu, dgx-a100, "),
        ("", "there are cpu, dgx-a100, "),
        ("dgx-h100:migs", "no option 'migs': there are busy-wait=SECONDS, half-static-mig, "),
        ("intel-qat:mig", "it has none"),
        ("dgx-h100:mig,vfio", "exclude each other"),
        ("t4-vm:mig", "no table of MIG profiles is known for t4"),
        ("t4-vm:model=t5", "no GPU model 't5'"),
        ("t4-vm:shares=some", "must be unlimited, memory or a number"),
        ("t4-vm+gh200", "two profiles have a driver gpu.nvidia.com"),
        ("example:partitions=many", "must be a number"),
        ("dgx-h100:vfio,busy-wait=long", "must be a whole number of seconds"),
        ("t4-vm:pods=many", "must be the number of pods"),
        ("t4-vm:pods=0", "must be the number of pods"),
        ("dgx-h100:no-iommu", "they need vfio, too"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, want: str) -> None:
    with pytest.raises(ProfileError) as caught:
        parse_equipment(text)
    assert want in str(caught.value)


def test_kinds_of_slices_are_served() -> None:
    assert RESOURCE_SLICE in list(SERVED)
