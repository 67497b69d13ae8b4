"""What the API server refuses in objects of the core group.

A function named `..._faults` yields every fault it finds, in the order in which the API server lists them; `check_...`
puts them together for one kind and one way of writing.
"""
