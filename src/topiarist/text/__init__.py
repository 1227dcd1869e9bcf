"""Documents to tokens: readers, tokeniser, stop lists. Knows no matrix."""
