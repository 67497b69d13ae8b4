"""Immutable, exact values: no I/O, no clocks, no chance."""
