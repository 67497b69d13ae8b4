"""What runs containers, behind one port: simulated ones, real processes, and a fake for tests."""
