"""The processors of this machine: offered one by one or in groups, and given to claims for themselves."""
