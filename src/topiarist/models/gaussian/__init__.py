"""Gaussian mixtures: parameters, starts, fits, how many components, and their overlaps."""
