"""Growth of topic trees: the growth loop, its proposers of splits, and the models that grow."""
