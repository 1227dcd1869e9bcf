"""Many small symmetric matrices at once: inverses, determinants, bounds of eigenvalues.

Floor plan:

    compiled  Many small symmetric matrices at once: inverses, determinants, bounds of eigenvalues.
"""
