"""One small port to any API server, and its adapters."""
