"""Spread: how topics lie over time and over groups of documents."""
