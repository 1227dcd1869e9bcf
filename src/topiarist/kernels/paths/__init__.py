"""Products that hierarchies need: counts times rows, and sums along the paths of a tree.

Floor plan:

    compiled   The products that hierarchies need, in numba: counts times rows, and sums along the paths of a tree.
    reference  The verbs of paths in NumPy: counts times rows, sums along the paths of a tree, posteriors of classes.
"""
