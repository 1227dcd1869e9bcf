"""Fisher kernels: how alike documents are, by meaning as well as by words."""
