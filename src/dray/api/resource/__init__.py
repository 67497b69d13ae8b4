"""The kinds of `resource.k8s.io`, in the shape of v1."""
