"""Evictions, and budgets that hold them back."""
