"""Reviews that search for all relevant documents and estimate how many are missing."""
