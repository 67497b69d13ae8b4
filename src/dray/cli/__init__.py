"""The command `dray`: verbs for people, thin over the library."""
