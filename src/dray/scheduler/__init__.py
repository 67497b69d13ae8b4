"""The scheduler: pods find a node and devices, in the order of their importance and without a collision."""
