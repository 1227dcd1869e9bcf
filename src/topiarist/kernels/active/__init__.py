"""Sweeps over the components that documents still use."""
