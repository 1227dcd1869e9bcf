"""Kernels of hierarchies: products of counts and rows, and sums along the paths of a tree."""
