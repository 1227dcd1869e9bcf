"""Estimators that learn given categories: PLC, HPLC, mixtures, PMM and the category learner."""
