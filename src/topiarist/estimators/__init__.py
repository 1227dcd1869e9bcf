"""What a person wants done: estimators with scikit-learn's contract, and the topics of a collection."""
