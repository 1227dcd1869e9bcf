"""Explorer of a collection as web pages, and as one report file."""
