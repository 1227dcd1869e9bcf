"""How trees grow: the one loop, what proposes splits, and the models as species that grow.

Floor plan:

    annealed          Splits by annealing, as in the papers: every class is doubled, and the temperature decides which
                      doubles part.
    guided            Splits proposed by geometry: the leaf whose documents gain most from being two groups instead of
                      one.
    headings          Headings: the upper tree built from the leaves, and views of it that show as much as somebody
                      wants to see.
    hplsa_species     Hierarchical latent classes as a thing that grows.
    loop              The only growth loop.
    merges            Merging leaves by information loss: who goes with whom.
    parts             The parameters of a growing tree, in the form that all models share, and what splitting and
                      joining does to them.
    species           The models as things that grow: start parameters for halves, EM over a tree, held-out likelihood.
    start             A start for a given tree: documents are dealt out from the root down, by where they lie in latent
                      space.
    stored_documents  Documents that are files: all of them fit and judge a tree; those that are drawn, and in memory,
                      propose its splits.
    stored_rows       P(class | document) of documents that are files, while a tree grows: rows in files, and what
                      became of classes since.
    twigs             Twigs: what grew below the first branches of a tree, kept as it grew while headings are built over
                      the branches.
"""
