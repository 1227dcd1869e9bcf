"""Fisher kernels: the scores of a document, what stands for the information, and the matrix."""
