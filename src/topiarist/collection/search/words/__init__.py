"""Index of all words of all documents, by stems."""
