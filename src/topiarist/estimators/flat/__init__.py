"""Flat models: PLSA and LSI."""
