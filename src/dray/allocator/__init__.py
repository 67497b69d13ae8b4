"""Allocation: from claims, slices and what is taken to devices, or to the reason why not. Pure."""
