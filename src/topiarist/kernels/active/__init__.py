"""Sweeps over the components that documents still use: PLSA with sparse rows."""
