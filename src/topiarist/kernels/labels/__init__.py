"""Documents with several labels."""
