"""Objects to store, and short ways to store them."""

from dray.store.port import Change, Delete, IndexValue, Key, Put, Store

PODS = "pods"
CLAIMS = "resourceclaims.resource.k8s.io"


def pod(name: str, namespace: str = "ml") -> Key:
    return Key(PODS, namespace, name)


async def put(
    store: Store, key: Key, body: bytes = b"{}", *, expect: int | None = None, index: tuple[IndexValue, ...] = ()
) -> Change:
    (change,) = await store.commit((Put(key, body, expect, None, index),))
    return change


async def delete(store: Store, key: Key, *, expect: int | None = None) -> Change:
    (change,) = await store.commit((Delete(key, expect),))
    return change
