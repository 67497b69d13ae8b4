"""Who a caller is: certificates, tokens, and acting as somebody else."""
