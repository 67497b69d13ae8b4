"""Allocation: claims, slices and what is taken, to devices or to the reason why not. Pure; see `dray.allocator.allocate`."""
