"""Controllers: each watches some kinds and makes one thing so, again and again, from whatever state it finds."""
