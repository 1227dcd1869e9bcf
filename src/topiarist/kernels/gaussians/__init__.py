"""Kernels for many small symmetric matrices: inverses, determinants and bounds of eigenvalues."""
