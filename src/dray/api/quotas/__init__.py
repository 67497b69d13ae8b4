"""Resource quotas: what each object is charged for, which quotas count it, and what is in use altogether."""
