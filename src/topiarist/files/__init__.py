"""The collection folder on disk: documents and their index, models and arrays, and the log of what people did."""
