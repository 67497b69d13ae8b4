"""From what was written to what v1 has for it, one idea a module. Each function notes what it changes in the draft."""
