import pytest

from dray.allocator.amounts import AmountError, amounts_taken
from dray.api.resource.device import CapacityRequestPolicy, CapacityRequestPolicyRange, Device, DeviceCapacity
from dray.values.quantity import parse_quantity


def stepped(
    low: str, step: str | None = None, high: str | None = None, default: str | None = None
) -> CapacityRequestPolicy:
    bounds = [None if text is None else parse_quantity(text) for text in (low, high, step)]
    valid = CapacityRequestPolicyRange(min=bounds[0], max=bounds[1], step=bounds[2])
    return CapacityRequestPolicy(default=None if default is None else parse_quantity(default), valid_range=valid)


def values(*texts: str) -> CapacityRequestPolicy:
    return CapacityRequestPolicy(default=parse_quantity(texts[0]), valid_values=tuple(map(parse_quantity, texts)))


def taken(policy: CapacityRequestPolicy | None, request: str | None, value: str = "100") -> str | None:
    device = Device(name="d", capacity={"m": DeviceCapacity(value=parse_quantity(value), request_policy=policy)})
    amounts = amounts_taken(device, {} if request is None else {"m": parse_quantity(request)})
    return None if amounts is None else str(amounts["m"])


@pytest.mark.parametrize(
    ("policy", "request_", "want"),
    [
        (None, None, "100"),
        (None, "1500m", "1500m"),
        (None, "101", None),
        (stepped("2", "2", "4", "2"), None, "2"),
        (stepped("2", "2", "4", "2"), "1", "2"),
        (stepped("2", "2", "4", "2"), "2", "2"),
        (stepped("2", "2", "4", "2"), "3", "4"),
        (stepped("2", "2", "4", "2"), "5", None),
        (stepped("200m", "100m", "1"), "250m", "300m"),
        (stepped("200m", "100m", "1"), "200m", "200m"),
        (stepped("2"), "2500u", "2"),
        (stepped("1Gi", "1Gi", default="1Gi"), "1", "1Gi"),
        (values("1", "2"), "2", "2"),
        (values("1", "3"), "2", "3"),
        (values("1", "3"), "4", None),
        (CapacityRequestPolicy(default=parse_quantity("5")), "7", "7"),
    ],
)
def test_amount_follows_the_policy(
    policy: CapacityRequestPolicy | None, request_: str | None, want: str | None
) -> None:
    assert taken(policy, request_, "100Gi" if want == "1Gi" else "100") == want


def test_a_default_is_fine_however_it_is_spelled() -> None:
    assert taken(stepped("1Ki", "1Ki", default="1Ki"), "1024", "1Mi") in ("1Ki", "1024")


@pytest.mark.parametrize(
    ("low", "step", "request_"),
    [("1", "2", "1E20"), ("0", "2", "9223372036854775807"), ("1", "1m", "1001500u"), ("1", "1", "10000000000000000")],
)
def test_what_the_arithmetic_cannot_hold_is_an_error(low: str, step: str, request_: str) -> None:
    with pytest.raises(AmountError):
        taken(stepped(low, step), request_, "1e30")


def test_whole_units_go_further_than_thousandths() -> None:
    assert taken(stepped("1", "2", "1e17"), "9223372036854775806", "1e30") is None
    assert taken(stepped("1", "2", "1e20"), "9223372036854775806", "1e30") == "9223372036854775807"
