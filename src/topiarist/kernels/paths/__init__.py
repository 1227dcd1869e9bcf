"""Sums along the paths of a tree."""
