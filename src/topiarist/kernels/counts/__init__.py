"""Sweeps over the non-zeros of counts: expected counts, mixtures, folding in and normalisation."""
