"""Classes that are known: words handed down their paths, and the classes of new documents.

Floor plan:

    compiled   The verbs of known classes in numba: words handed down paths (K1), classes of new documents (K2).
    reference  The verbs of known classes in NumPy: words handed down paths (K1), classes of new documents (K2).
"""
