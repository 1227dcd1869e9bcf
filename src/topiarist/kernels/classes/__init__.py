"""Kernels of known classes: word counts along paths (K1) and the classes of new documents (K2)."""
