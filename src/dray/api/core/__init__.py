"""The core group: pods, nodes and what surrounds them."""
