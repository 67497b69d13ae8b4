"""The independent checker of allocations: plain definitions, no search, no cache, nothing shared with the allocator."""
