"""Scores: each gives nodes points for reasons of its own, 0 to 100, all nodes at once."""
