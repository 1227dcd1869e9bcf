"""Describe: the tree and its topics as people read them, in words, tables and lines."""
