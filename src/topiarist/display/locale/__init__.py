"""Languages of the explorer: translated texts, numbers and dates."""
