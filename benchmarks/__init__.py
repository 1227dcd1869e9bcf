"""Benchmarks of Topiarist against its peers: ``python -m benchmarks.run --list``."""
