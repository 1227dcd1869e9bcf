"""Peers beside us on the same documents: ``python -m benchmarks.comparison`` runs them, writes docs/comparison.md."""
