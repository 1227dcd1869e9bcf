"""Gaussian mixtures, their hierarchies, and trees made of them."""
