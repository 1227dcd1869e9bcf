"""A collection: documents, their tree, and a room for each thing that people do with both."""
