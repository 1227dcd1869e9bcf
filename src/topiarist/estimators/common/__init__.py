"""Shared parts of the estimators: options, progress, streams and counts in files."""
