"""Putting the parts together: settings, wiring, logs."""
