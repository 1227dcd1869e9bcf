"""Documents with several labels: parametric mixtures and the choice of labels."""
