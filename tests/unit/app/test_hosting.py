import asyncio
import ssl
from pathlib import Path

from dray.app.hosting import Ground, host_cluster
from dray.app.serverwire import wire_entropy, wire_keeper
from dray.effects.clock import FakeClock
from dray.effects.log import MemoryLog
from dray.server.identity.credentials import ensure_credentials
from dray.server.serving import Address
from dray.store.memory import MemoryStore
from tests.unit.server.identity.certs import DAY, NOW, signing_pem


def test_certificates_of_a_server_that_runs_on_are_renewed(tmp_path: Path) -> None:
    """The clock is the keeper's alone: nothing else of the cluster shall live through a year."""
    tmp_path.joinpath("sa.key").write_bytes(signing_pem())
    credentials = ensure_credentials(tmp_path, NOW)
    certificate = tmp_path / "apiserver.crt"
    before = certificate.read_bytes()
    log, years = MemoryLog(), FakeClock()
    keep = wire_keeper(tmp_path, years, log)
    shown: list[ssl.SSLContext] = []

    async def note(context: ssl.SSLContext) -> None:
        shown.append(context)
        await keep(context)

    async def scenario() -> None:
        ground = Ground(
            store=MemoryStore(), credentials=credentials, clock=FakeClock(), entropy=wire_entropy(), log=log, keep=note
        )
        async with host_cluster(ground, Address(), None) as url:
            assert url.startswith("https://127.0.0.1:")
            while certificate.read_bytes() == before:
                await years.advance(DAY)

    asyncio.run(scenario())
    assert len(shown) == 1
    assert [entry for entry in log.entries if entry.message == "certificates cannot be renewed"] == []
