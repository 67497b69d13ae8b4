"""Filters: each refuses nodes for reasons of its own, all nodes at once."""
