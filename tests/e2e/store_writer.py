"""A process that writes to a store until it is killed, and says on standard output what was acknowledged.

    python -m tests.e2e.store_writer DATABASE

Each worker owns three objects, which it writes together: one that counts, and two that are what they have to be at that
count. Every fifth time these two are deleted.
"""

import asyncio
import os
import sys
import zlib
from pathlib import Path
from typing import Final

from dray.store.port import Delete, Key, Put, Store, Write
from dray.store.sqlite import open_sqlite_store

WORKERS: Final = 16
KEPT_CHANGES: Final = 400


def counter(worker: int) -> Key:
    return Key("counters", "", f"w{worker}")


def pair(worker: int) -> tuple[Key, Key]:
    return Key("pods", "left", f"w{worker}"), Key("pods", "right", f"w{worker}")


def body(key: Key, count: int) -> bytes | None:
    """What an object of a pair is at a count: None if it is deleted then, else text of a length of its own."""
    if count % 5 == 4:
        return None
    return str(key).encode() + b"%08x" % zlib.crc32(b"%d" % count) * (count * 37 % 900)


async def work(store: Store, worker: int) -> None:
    last = await store.find(counter(worker))
    count = 0 if last is None else int(last.body) + 1
    while True:
        texts = [(key, body(key, count)) for key in pair(worker)]
        writes: list[Write] = [Delete(key) if text is None else Put(key, text) for key, text in texts]
        changes = await store.commit([*writes, Put(counter(worker), b"%d" % count)])
        # One write of a short line is not torn, whenever the process dies.
        os.write(1, b"%d %d %d\n" % (worker, count, changes[-1].revision))
        if worker == 0 and count % 20 == 0:
            bounds = store.bounds()
            await store.compact(max(bounds.horizon, bounds.revision - KEPT_CHANGES))
        count += 1


async def main(database: Path) -> None:
    async with open_sqlite_store(database) as store, asyncio.TaskGroup() as tasks:
        for worker in range(WORKERS):
            tasks.create_task(work(store, worker))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
