"""Tests that are coroutines, with a world."""

from contextlib import AbstractAsyncContextManager

import pytest

from tests.contract.store.scenarios import pytest_pyfunc_call
from tests.unit.node.world import World, open_world

__all__ = ["pytest_pyfunc_call"]


@pytest.fixture
def world() -> AbstractAsyncContextManager[World]:
    return open_world()
