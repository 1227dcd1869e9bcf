"""CUDA backend of the kernels in numba; imported only if a device is requested.

``warp`` has the operations of 32 lanes, ``loads`` their memory access. ``sweeps`` and ``folding`` go over non-zeros,
``dense`` over arrays, ``paths`` along the paths of a tree. ``segments`` assigns work to warps, ``memory`` holds arrays,
and ``verbs`` provides all kernels under the names and arguments of the other backends.
"""
