"""Documents with several labels: parametric mixtures, label sets, and which labels a new document gets."""
