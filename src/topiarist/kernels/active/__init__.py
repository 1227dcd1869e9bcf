"""Sweeps over the components that documents still use: PLSA with sparse rows.

Floor plan:

    compiled   The sweeps over the components that documents still use, in numba.
    reference  The verbs for rows that hold only the components a document uses, written to be believed.
"""
