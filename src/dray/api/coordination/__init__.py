"""Leases, by which instances agree who is in charge and nodes say that they live."""
