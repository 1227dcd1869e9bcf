"""Gaussian mixtures, their hierarchies and the trees built from them."""
