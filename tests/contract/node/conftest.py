"""Tests that are coroutines."""

from tests.contract.store.scenarios import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
