"""Judge: given categories learned from labels, how good they are, and what people said of them."""
