"""Types: each kind of the API, declared once."""
