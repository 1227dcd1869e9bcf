"""The verbs on a CUDA device, with numba. Nothing here is imported before somebody asks for a device.

``warp`` is what 32 lanes do together, ``loads`` how they read; ``sweeps`` and ``folding`` go over non-zeros, ``dense``
over arrays, ``paths`` along the paths of a tree; ``segments`` says which warp works on what, ``memory`` holds arrays,
and ``verbs`` gives all of it the names and arguments that every telling has.
"""
