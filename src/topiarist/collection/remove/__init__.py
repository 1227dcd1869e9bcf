"""Removal of documents with undo, and permanent erasure."""
