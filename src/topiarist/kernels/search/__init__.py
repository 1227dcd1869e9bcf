"""Scores of documents against a query."""
