"""Laws of quotas: charging object by object comes to the same as counting them all, and nothing is ever negative."""

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.core.containers import Container
from dray.api.core.kinds import CONFIG_MAP, POD, SERVICE
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.resourcequota import ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus
from dray.api.core.resources import ResourceRequirements
from dray.api.core.service import Service
from dray.api.core.servicespec import ServicePort, ServiceSpec
from dray.api.kind import Kind
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.quotas.charging import ChargedWrite, QuotaRefusal, charge_quotas, measure_growth, recount
from dray.api.quotas.meter import Surroundings
from dray.api.quotas.meters import METERS
from dray.api.registry import AnyKind
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.deviceclass import DeviceClass, DeviceClassSpec
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dray.values.quantity import Quantity
from dray.values.times import Time

K = TypeVar("K", bound=ApiObject)
NOW = Time(1_767_225_600)
CLASSES = ("gpu", "nic")
CLASS = DeviceClass(metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(extended_resource_name="example.com/gpu"))
NAMES = (
    "pods",
    "count/pods",
    "cpu",
    "limits.cpu",
    "requests.memory",
    "requests.example.com/gpu",
    "requests.deviceclass.resource.kubernetes.io/gpu",
    "gpu.deviceclass.resource.k8s.io/devices",
    "nic.deviceclass.resource.k8s.io/devices",
    "count/resourceclaims.resource.k8s.io",
    "services.nodeports",
    "services",
    "configmaps",
)


class Things:
    """Objects of the namespace, and one device class."""

    def __init__(self) -> None:
        self._things: dict[AnyKind, dict[str, Any]] = {DEVICE_CLASS: {"gpu": CLASS}}

    def put(self, kind: Kind[K], thing: K) -> None:
        self._things.setdefault(kind, {})[thing.metadata.name] = thing

    def find(self, kind: Kind[K], namespace: str, name: str, /) -> K | None:
        return cast("K | None", self._things.get(kind, {}).get(name))

    def list(self, kind: Kind[K], namespace: str | None = None, /) -> Sequence[K]:
        return list(self._things.get(kind, {}).values())


def name_all(things: list[tuple[AnyKind, Any]]) -> list[tuple[AnyKind, Any]]:
    metas = [ObjectMeta(name=f"o{number}", namespace="ml", uid=f"u{number}") for number in range(len(things))]
    return [(kind, replace(thing, metadata=meta)) for meta, (kind, thing) in zip(metas, things, strict=True)]


amounts = st.dictionaries(
    st.sampled_from(["cpu", "memory", "example.com/gpu", "deviceclass.resource.kubernetes.io/gpu"]),
    st.integers(0, 5000).map(Quantity.of_milli),
)
containers = st.builds(
    lambda requests, limits: Container(name="c", resources=ResourceRequirements(requests=requests, limits=limits)),
    amounts,
    amounts,
)
pods = st.builds(
    lambda regular, init: Pod(spec=PodSpec(containers=tuple(regular), init_containers=tuple(init))),
    st.lists(containers, min_size=1, max_size=3),
    st.lists(containers, max_size=2),
)
modes = st.sampled_from(["ExactCount", "All", "ToCome"])
requests = st.one_of(
    st.builds(
        lambda mode, count, name: DeviceRequest(
            exactly=ExactDeviceRequest(device_class_name=name, allocation_mode=mode, count=count)
        ),
        modes,
        st.integers(1, 5),
        st.sampled_from(CLASSES),
    ),
    st.lists(
        st.builds(
            DeviceSubRequest,
            device_class_name=st.sampled_from(CLASSES),
            allocation_mode=modes,
            count=st.integers(1, 5),
        ),
        min_size=1,
        max_size=3,
    ).map(lambda options: DeviceRequest(first_available=tuple(options))),
)
claims = st.lists(requests, max_size=3).map(
    lambda wanted: ResourceClaim(spec=ResourceClaimSpec(devices=DeviceClaim(requests=tuple(wanted))))
)
services = st.builds(
    lambda type_, ports: Service(spec=ServiceSpec(type=type_, ports=tuple(ServicePort(port=port) for port in ports))),
    st.sampled_from(["ClusterIP", "NodePort", "LoadBalancer"]),
    st.lists(st.integers(1, 9), max_size=3),
)
objects = st.lists(
    st.one_of(
        st.tuples(st.just(POD), pods),
        st.tuples(st.just(RESOURCE_CLAIM), claims),
        st.tuples(st.just(SERVICE), services),
        st.tuples(st.just(CONFIG_MAP), st.builds(CONFIG_MAP.struct)),
    ),
    max_size=6,
).map(name_all)


def quota_of(limit: int) -> ResourceQuota:
    hard = dict.fromkeys(NAMES, Quantity.of(limit))
    return ResourceQuota(
        metadata=ObjectMeta(name="q", namespace="ml"),
        spec=ResourceQuotaSpec(hard=hard),
        status=ResourceQuotaStatus(hard=hard, used=dict.fromkeys(NAMES, Quantity.of(0))),
    )


def name_missing(thing: Any) -> Any:
    """A pod that says how much of everything limited it needs."""
    if not isinstance(thing, Pod):
        return thing
    zero = {"cpu": Quantity.of(0), "memory": Quantity.of(0)}

    def complete(container: Container) -> Container:
        said = container.resources
        resources = replace(said, requests={**zero, **said.requests}, limits={**zero, **said.limits})
        return replace(container, resources=resources)

    spec = thing.spec
    return replace(
        thing,
        spec=replace(
            spec,
            containers=tuple(map(complete, spec.containers)),
            init_containers=tuple(map(complete, spec.init_containers)),
        ),
    )


@given(objects, st.integers(0, 60))
def test_charging_one_by_one_is_counting_them_all_and_stays_within_the_limits(
    drawn: list[tuple[AnyKind, Any]], limit: int
) -> None:
    things, quota = Things(), quota_of(limit)
    surroundings = Surroundings(things, NOW)
    for kind, bare in drawn:
        thing = name_missing(bare)
        try:
            charged = charge_quotas(ChargedWrite(METERS[kind], thing), [quota], surroundings)
        except QuotaRefusal:
            continue
        things.put(kind, thing)
        quota = charged[0] if charged else quota
        assert all(quota.status.used[name] <= quota.status.hard[name] for name in NAMES)
    assert recount(quota, surroundings) == quota.status


@given(objects)
def test_nothing_is_charged_less_than_nothing(drawn: list[tuple[AnyKind, Any]]) -> None:
    surroundings = Surroundings(Things(), NOW)
    for kind, thing in drawn:
        assert all(amount.sign >= 0 for amount in METERS[kind].measure(thing, surroundings).values())


@given(st.tuples(services, services, services))
def test_what_an_update_adds_is_never_negative_and_nothing_is_added_twice(drawn: tuple[Any, Any, Any]) -> None:
    surroundings = Surroundings(Things(), NOW)
    meter = METERS[SERVICE]
    for new in drawn:
        for old in drawn:
            growth = measure_growth(ChargedWrite(meter, new, old), surroundings)
            assert all(amount.sign > 0 for amount in growth.values())
            before, after = meter.measure(old, surroundings), meter.measure(new, surroundings)
            zero = Quantity.of(0)
            assert all(before.get(name, zero) + amount == after[name] for name, amount in growth.items())
        assert measure_growth(ChargedWrite(meter, new, new), surroundings) == {}
