"""Sweeps over counts: what every model of documents and words needs."""
