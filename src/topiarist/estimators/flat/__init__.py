"""Flat models: PLSA and LSI.

Floor plan:

    lsi   Latent semantic indexing as a scikit-learn transformer: counts in, few dense features out.
    plsa  PLSA as a scikit-learn estimator: topics of a collection, and the topics of each document.
"""
