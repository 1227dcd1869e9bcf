"""Sweeps over the non-zeros of counts: expected counts, mixtures, folding in, normalising.

Floor plan:

    compiled   The verbs of counts in numba: the same sums as ``reference``, in one sweep and without a temporary.
    reference  The verbs of counts in NumPy: slow, obvious, and the specification of every other telling.
"""
