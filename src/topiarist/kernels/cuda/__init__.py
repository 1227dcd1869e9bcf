"""The verbs on a CUDA device, with numba. Nothing here is imported before somebody asks for a device.

Floor plan:

    clusters   Joint probabilities of clusters and words: smoothed, added up under the nodes of a tree, and what they
               tell.
    dense      The verbs that go over whole arrays: elementwise, or sums of which every warp adds its part in a fixed
               order.
    folding    Folding-in: the sweep of one document again and again, until its row stands still. It never leaves the
               registers.
    loads      Reading and writing device memory without ceremony: no negative indices, wide words, short addresses.
    memory     Memory of the device: arrays that know what they need to, and give their place back when nobody holds
               them.
    paths      Sums along the paths of a tree. All arrays together are small beside a sweep: one thread for a number
               will do.
    points     Points in groups: their moments, and Lloyd's algorithm for two means of many groups at once.
    segments   Which warp sweeps what: rows cut into segments, in an order that depends on the counts alone.
    shares     Shares of documents in classes as a tree changes: classes part, are joined, leave; and who is strongest.
    shuffles   How the lanes of a warp add up and hand round what they have, by shuffles: no memory, no waiting.
    simulated  The words of ``shuffles`` for numba's simulator, which has none: said through memory that a block shares.
    sweeps     The sweeps over non-zeros: one warp for a segment of a row, every component in a register.
    verbs      The verbs on a device: the names and arguments of ``reference``, over the whole range at once.
    warp       A warp, and how many of them there are.

``warp`` is what 32 lanes do together, ``loads`` how they read; ``sweeps`` and ``folding`` go over non-zeros, ``dense``
over arrays, ``paths`` along the paths of a tree; ``segments`` says which warp works on what, ``memory`` holds arrays,
and ``verbs`` gives all of it the names and arguments that every telling has.
"""
