"""Tests that are coroutines: each runs on its own event loop, with the fixtures that are contexts open meanwhile."""

import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import pytest

__all__ = ["pytest_pyfunc_call"]


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not asyncio.iscoroutinefunction(pyfuncitem.obj):
        return None

    async def scenario() -> None:
        async with AsyncExitStack() as open_fixtures:
            arguments = {}
            for name in pyfuncitem._fixtureinfo.argnames:
                value = pyfuncitem.funcargs[name]
                if isinstance(value, AbstractAsyncContextManager):
                    value = await open_fixtures.enter_async_context(value)
                arguments[name] = value
            await pyfuncitem.obj(**arguments)

    asyncio.run(scenario())
    return True
