"""Events in their newer form."""
