"""How trees grow: the one loop, what proposes splits, and the models as species that grow."""
