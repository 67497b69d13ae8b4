"""Examples that play themselves on a cluster of their own: what `dray demo` shows, and what the tests hold them to."""
