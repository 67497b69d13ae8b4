"""What a caller may do: access reviews."""
