"""Where objects are kept: one port, a durable adapter on SQLite, one in memory, and the fan-out to watchers."""
