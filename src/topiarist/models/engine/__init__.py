"""What every model of counts does with the kernels, on the host and on a CUDA device."""
