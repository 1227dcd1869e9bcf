"""Fisher kernels: the scores of a document, the approximate information, and the kernel matrix."""
