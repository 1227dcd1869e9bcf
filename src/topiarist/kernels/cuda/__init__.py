"""CUDA backend of the kernels in numba; imported only if a device is requested.

``warp`` has the operations of 32 lanes, ``loads`` their memory access. ``sweeps`` goes over non-zeros, ``dense`` over
arrays, ``paths`` along the paths of a tree. ``segments`` assigns work to warps, ``memory`` holds arrays and starts
kernels, and ``verbs`` has operations of several kernels. ``models.engine.cuda`` calls them.
"""
