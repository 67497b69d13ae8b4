from hypothesis import given
from hypothesis import strategies as st

from dray.allocator.ids import ClaimUid, PoolId
from dray.allocator.ledger import Ledger
from dray.api.resource.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dray.values.quantity import Quantity

POOL = PoolId("d", "p")
RESULTS = st.builds(
    DeviceRequestAllocationResult,
    driver=st.just("d"),
    pool=st.just("p"),
    device=st.sampled_from(["d0", "d1", "d2"]),
    admin_access=st.sampled_from([None, None, True]),
    share_id=st.sampled_from([None, "s1", "s2"]),
    consumed_capacity=st.dictionaries(st.sampled_from(["m", "k"]), st.integers(0, 3).map(Quantity.of), max_size=2),
)
ALLOCATIONS = st.lists(RESULTS, max_size=3).map(
    lambda results: AllocationResult(devices=DeviceAllocationResult(results=tuple(results)))
)
CHANGES = st.lists(st.tuples(st.sampled_from("abc").map(ClaimUid), st.none() | ALLOCATIONS), max_size=8)


def apply(ledger: Ledger, changes: list[tuple[ClaimUid, AllocationResult | None]]) -> None:
    for claim, allocation in changes:
        if allocation is None:
            ledger.release(claim)
        else:
            ledger.take(claim, allocation)


def one(device: str, share: str | None = None, admin: bool | None = None, **amounts: int) -> AllocationResult:
    consumed = {name: Quantity.of(amount) for name, amount in amounts.items()}
    result = DeviceRequestAllocationResult(
        driver="d", pool="p", device=device, share_id=share, admin_access=admin, consumed_capacity=consumed
    )
    return AllocationResult(devices=DeviceAllocationResult(results=(result,)))


@given(before=CHANGES, after=CHANGES)
def test_undo_restores_what_was(
    before: list[tuple[ClaimUid, AllocationResult | None]], after: list[tuple[ClaimUid, AllocationResult | None]]
) -> None:
    ledger, want = Ledger(), Ledger()
    apply(ledger, before)
    apply(want, before)
    mark = ledger.mark()
    apply(ledger, after)
    ledger.undo(mark)
    assert ledger == want
    assert ledger.uses(POOL) == want.uses(POOL)


@given(CHANGES)
def test_a_ledger_without_claims_has_nothing_in_use(changes: list[tuple[ClaimUid, AllocationResult | None]]) -> None:
    ledger = Ledger()
    apply(ledger, changes)
    for claim in "abc":
        ledger.release(ClaimUid(claim))
    assert ledger == Ledger()
    assert dict(ledger.uses(POOL)) == {}


def test_administrators_hold_nothing() -> None:
    ledger = Ledger()
    ledger.take(ClaimUid("a"), one("d0", admin=True))
    assert dict(ledger.uses(POOL)) == {}


def test_shares_add_up_and_whole_devices_do_not() -> None:
    ledger = Ledger()
    ledger.take(ClaimUid("a"), one("d0", "s1", m=2))
    ledger.take(ClaimUid("b"), one("d0", "s2", m=1, k=0))
    ledger.take(ClaimUid("c"), one("d1", m=5))
    uses = ledger.uses(POOL)
    assert uses["d0"].consumed == {"m": 3 * 10**9}
    assert uses["d0"].users() == ["a", "b"]
    assert not uses["d0"].holders
    assert uses["d1"].consumed == {}
    assert uses["d1"].users() == ["c"]


def test_taking_again_replaces() -> None:
    ledger = Ledger()
    ledger.take(ClaimUid("a"), one("d0"), "ns/a")
    assert ledger.take(ClaimUid("a"), one("d1"), "ns/a") == {POOL}
    assert list(ledger.uses(POOL)) == ["d1"]
    holding = ledger.holding(ClaimUid("a"))
    assert holding is not None
    assert holding.ref == "ns/a"


def test_releasing_unknown_claims_touches_nothing() -> None:
    ledger = Ledger()
    assert ledger.release(ClaimUid("a")) == set()
    assert ledger.mark() == 0
