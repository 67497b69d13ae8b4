"""Simulated hardware: what the real drivers publish and hand to containers, from data, without the hardware."""
