"""Drivers: simulated hardware, and the real processors and network interfaces of a machine."""
