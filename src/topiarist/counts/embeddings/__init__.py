"""Vectors for documents: from files, from an encoder that is installed, or from a user's program."""
