"""Who may do what: roles and their bindings."""
