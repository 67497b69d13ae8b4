import pytest

from dray.store.port import Compacted, FutureRevision, Key, Page, Selection, Store
from tests.contract.store.objects import CLAIMS, PODS, delete, pod, put


def names(page: Page) -> list[str]:
    return [f"{record.key.namespace}/{record.key.name}" for record in page.records]


async def fill(store: Store) -> None:
    for key in (pod("b"), pod("a"), pod("a", "ml-2"), pod("z", "core"), Key(CLAIMS, "ml", "c"), Key("nodes", "", "n")):
        await put(store, key, str(key).encode())


async def test_a_list_is_in_order_of_namespace_and_name(store: Store) -> None:
    await fill(store)
    page = await store.page(Selection(PODS))
    assert names(page) == ["core/z", "ml/a", "ml/b", "ml-2/a"]
    assert (page.revision, page.has_more, page.remaining, page.next_after) == (store.bounds().revision, False, 0, None)


async def test_lists_of_nothing_are_empty(store: Store) -> None:
    assert (await store.page(Selection(PODS))).records == ()
    await fill(store)
    assert (await store.page(Selection("secrets"))).records == ()
    assert (await store.page(Selection(PODS, "nowhere"))).records == ()
    assert (await store.page(Selection(PODS, "ml", "nobody"))).records == ()


@pytest.mark.parametrize(
    ("selection", "want"),
    [
        (Selection(PODS, "ml"), ["ml/a", "ml/b"]),
        (Selection(PODS, "ml", "b"), ["ml/b"]),
        (Selection(PODS, name="a"), ["ml/a", "ml-2/a"]),
        (Selection("nodes", ""), ["/n"]),
        (Selection("nodes", "", "n"), ["/n"]),
        (Selection(CLAIMS), ["ml/c"]),
    ],
)
async def test_a_selection_narrows_a_list_now_and_earlier(store: Store, selection: Selection, want: list[str]) -> None:
    await fill(store)
    at = store.bounds().revision
    assert names(await store.page(selection)) == want
    for key in (pod("b"), pod("a"), Key("nodes", "", "n"), Key(CLAIMS, "ml", "c")):
        await delete(store, key)
    assert names(await store.page(selection, at=at)) == want


async def test_index_values_select(store: Store) -> None:
    for number in range(6):
        await put(store, pod(f"p{number}"), index=(("node", f"n{number % 2}"), ("phase", "Running")))
    at = store.bounds().revision
    await put(store, pod("p1"), index=(("node", "n0"),))
    of_node = Selection(PODS, index=(("node", "n1"),))
    assert names(await store.page(of_node)) == ["ml/p3", "ml/p5"]
    assert names(await store.page(of_node, at=at)) == ["ml/p1", "ml/p3", "ml/p5"]
    page = await store.page(of_node, limit=1)
    assert (names(page), page.has_more, page.remaining) == (["ml/p3"], True, None)
    assert names(await store.page(Selection(PODS, index=(("node", "n0"), ("phase", "Running"))))) == [
        "ml/p0",
        "ml/p2",
        "ml/p4",
    ]


async def test_pages_show_one_state_while_others_write(store: Store) -> None:
    for number in range(10):
        await put(store, pod(f"p{number}"), b"before")
    page = await store.page(Selection(PODS), limit=4)
    first = page.revision
    seen = list(page.records)
    assert page.remaining == 6
    while page.has_more:
        await put(store, pod("p9"), b"after")
        await put(store, pod(f"new{len(seen)}"), b"after")
        if len(seen) == 4:
            await delete(store, pod("p5"))
        page = await store.page(Selection(PODS), at=first, limit=4, after=page.next_after)
        assert page.revision == first
        seen += page.records
    assert [record.key.name for record in seen] == [f"p{number}" for number in range(10)]
    assert {record.body for record in seen} == {b"before"}


async def test_the_last_page_may_be_just_full(store: Store) -> None:
    for number in range(4):
        await put(store, pod(f"p{number}"))
    page = await store.page(Selection(PODS), limit=4)
    assert (len(page.records), page.has_more, page.remaining) == (4, False, 0)
    page = await store.page(Selection(PODS), limit=3)
    assert (len(page.records), page.has_more, page.remaining) == (3, True, 1)


async def test_a_page_goes_on_after_a_key_that_is_gone(store: Store) -> None:
    await fill(store)
    await delete(store, pod("a"))
    assert names(await store.page(Selection(PODS), after=pod("a"))) == ["ml/b", "ml-2/a"]
    assert names(await store.page(Selection(PODS, "ml"), after=pod("z", "core"))) == ["ml/b"]
    assert names(await store.page(Selection(PODS, "core"), after=pod("a"))) == []


async def test_every_earlier_state_can_be_listed(store: Store) -> None:
    want: dict[int, dict[str, bytes]] = {store.bounds().revision: {}}
    state: dict[str, bytes] = {}
    for step in range(12):
        name = f"p{step % 5}"
        if step % 3 == 2 and name in state:
            change = await delete(store, pod(name))
            state.pop(name)
        else:
            change = await put(store, pod(name), b"%d" % step)
            state[name] = b"%d" % step
        want[change.revision] = dict(state)
    for revision, bodies in want.items():
        page = await store.page(Selection(PODS), at=revision)
        assert {record.key.name: record.body for record in page.records} == bodies
        assert page.revision == revision


async def test_states_out_of_reach_are_refused(store: Store) -> None:
    await fill(store)
    newest = store.bounds().revision
    with pytest.raises(FutureRevision):
        await store.page(Selection(PODS), at=newest + 1)
    await store.compact(newest - 2)
    with pytest.raises(Compacted):
        await store.page(Selection(PODS), at=newest - 3)
    await store.page(Selection(PODS), at=newest - 2)


async def test_the_state_at_the_horizon_is_kept(store: Store) -> None:
    await put(store, pod("a"), b"one")
    horizon = (await put(store, pod("a"), b"two")).revision
    await put(store, pod("a"), b"three")
    await store.compact(horizon)
    page = await store.page(Selection(PODS), at=horizon)
    assert [record.body for record in page.records] == [b"two"]
