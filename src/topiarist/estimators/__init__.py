"""Estimators with scikit-learn's contract: the public classes, by kind."""
