"""Find: documents by words, by meaning or both, where in the tree they are, and why."""
