"""Sentences, numbers and dates as the command line and the explorer show them."""
