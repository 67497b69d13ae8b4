"""The API server: what a Kubernetes client cannot tell from Kubernetes', for the kinds that dray serves."""
