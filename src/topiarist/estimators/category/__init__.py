"""Given categories: PLC, HPLC, hierarchical mixtures and PMM, and the words that decided."""
