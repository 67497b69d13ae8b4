"""Every adapter, once for each test."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from dray.store.memory import MemoryStore
from dray.store.port import Store
from dray.store.sqlite import open_sqlite_store
from tests.contract.store.scenarios import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]


@asynccontextmanager
async def in_memory() -> AsyncIterator[Store]:
    yield MemoryStore()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> AbstractAsyncContextManager[Store]:
    return in_memory() if request.param == "memory" else open_sqlite_store(tmp_path / "dray.db")
