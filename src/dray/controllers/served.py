"""Which kinds an API server serves: clusters leave out what is alpha or beta, or serve other versions of it."""

import asyncio
from collections.abc import Iterable

from dray.api.registry import AnyKind
from dray.client.port import Client, ListOptions, Unreachable
from dray.client.retrying import Pace
from dray.effects.log import Log
from dray.errors import ApiError, NotFound

__all__ = ["choose_mirrored", "find_absent"]

_UNMIRRORED = frozenset({"events"})
"""Many and short-lived; nothing belongs to them, and their namespace is emptied by listing."""


def choose_mirrored(kinds: Iterable[AnyKind]) -> list[AnyKind]:
    """Kinds whose objects can be watched, and can go."""
    wanted = {"delete", "list", "watch"}
    return [kind for kind in kinds if wanted <= set(kind.verbs) and kind.plural not in _UNMIRRORED]


async def find_absent(client: Client, kinds: Iterable[AnyKind], pace: Pace, log: Log) -> frozenset[AnyKind]:
    """The kinds that the server does not know. Waits for as long as it cannot be reached."""
    asked = tuple(kinds)
    known = await asyncio.gather(*(_is_served(client, kind, pace, log) for kind in asked))
    absent = frozenset(kind for kind, is_served in zip(asked, known, strict=True) if not is_served)
    if absent:
        log.info("kinds are not served", kinds=" ".join(sorted(f"{kind.plural}.{kind.group}" for kind in absent)))
    return absent


async def _is_served(client: Client, kind: AnyKind, pace: Pace, log: Log) -> bool:
    attempt = 0
    while True:
        try:
            await client.list(kind, ListOptions(limit=1))
        except NotFound:
            return False
        except ApiError:
            return True  # it is there; that we may not read it is for its informer to tell
        except Unreachable as fault:
            if attempt == 0:
                log.info("server cannot be reached", err=fault)
            await pace.pause(attempt)
            attempt += 1
        else:
            return True
