"""The functions an expression may call, one module per subject; `functions.declare` reads their tables."""
