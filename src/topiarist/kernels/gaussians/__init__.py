"""Many small symmetric matrices at once: inverses, determinants, bounds of eigenvalues."""
