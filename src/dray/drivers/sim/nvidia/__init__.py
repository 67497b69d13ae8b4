"""`gpu.nvidia.com` and `compute-domain.nvidia.com` without the GPUs."""
