"""What a caller may do: roles, nodes, the union of both, and the questions clients may ask about it."""
