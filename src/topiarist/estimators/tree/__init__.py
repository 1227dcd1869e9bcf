"""Trees of topics: CAM and HPLSA, and what all estimators with a tree do."""
