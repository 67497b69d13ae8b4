"""The example driver of Kubernetes, whose demos are what newcomers try: the same devices, configs and variables."""
