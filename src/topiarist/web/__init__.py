"""The explorer: a collection as web pages on this machine, and as one file to hand on."""
