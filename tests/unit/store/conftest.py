"""Tests of this folder may be coroutines too."""

from tests.contract.store.scenarios import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]
