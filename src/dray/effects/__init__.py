"""Time, chance and logs as ports: a small protocol each, the system's version, and a fake that is shipped."""
