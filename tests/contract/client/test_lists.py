from dray.api.core.kinds import CONFIG_MAP
from dray.client.paging import list_all
from dray.client.port import Client, ListOptions
from tests.contract.client.objects import NAMESPACE, config_map, names

LABELLED = ListOptions(namespace=NAMESPACE, label_selector="app=t")


async def fill(client: Client, *wanted: str) -> None:
    for name in wanted:
        await client.create(CONFIG_MAP, config_map(name, labels={"app": "t"}))


async def test_lists_are_in_order_and_have_a_version(client: Client) -> None:
    await fill(client, "b", "a", "c")
    listed = await client.list(CONFIG_MAP, LABELLED)
    assert names(listed.items) == ["a", "b", "c"]
    newest = max(int(each.metadata.resource_version) for each in listed.items)
    assert int(listed.metadata.resource_version) >= newest
    assert {each.kind for each in listed.items} == {"ConfigMap"}


async def test_what_is_listed_is_what_is_read(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a", labels={"app": "t"}, colour="red"))
    assert (await client.list(CONFIG_MAP, LABELLED)).items == (made,)


async def test_selectors_narrow(client: Client) -> None:
    await fill(client, "a", "b")
    await client.create(CONFIG_MAP, config_map("other", labels={"app": "u"}))
    assert names((await client.list(CONFIG_MAP, LABELLED)).items) == ["a", "b"]
    named = ListOptions(namespace=NAMESPACE, field_selector="metadata.name=b")
    assert names((await client.list(CONFIG_MAP, named)).items) == ["b"]
    everywhere = ListOptions(label_selector="app in (t, u)")
    assert names((await client.list(CONFIG_MAP, everywhere)).items) == ["a", "b", "other"]
    elsewhere = ListOptions(namespace="kube-system", label_selector="app")
    assert (await client.list(CONFIG_MAP, elsewhere)).items == ()


async def test_pages_make_up_the_list(client: Client) -> None:
    await fill(client, "a", "b", "c", "d", "e")
    first = await client.list(CONFIG_MAP, ListOptions(namespace=NAMESPACE, label_selector="app=t", limit=2))
    assert names(first.items) == ["a", "b"]
    token = first.metadata.continue_
    second = await client.list(
        CONFIG_MAP, ListOptions(namespace=NAMESPACE, label_selector="app=t", limit=2, continue_token=token)
    )
    assert names(second.items) == ["c", "d"]
    assert second.metadata.resource_version == first.metadata.resource_version


async def test_list_all_fetches_every_page(client: Client) -> None:
    await fill(client, "a", "b", "c", "d", "e")
    paged = await list_all(client, CONFIG_MAP, ListOptions(namespace=NAMESPACE, label_selector="app=t", limit=2))
    whole = await client.list(CONFIG_MAP, LABELLED)
    assert paged.items == whole.items
    assert paged.metadata == whole.metadata
