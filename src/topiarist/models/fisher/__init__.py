"""Fisher kernels: the scores of a document, what stands for the information, and the matrix.

Floor plan:

    matrix  The kernel of documents: explicit features, or all pairs without forming them. (F3), (F4):
            docs/models/fisher.md
    scores  Fisher scores: what a document would teach a fitted model. Equations (F1)-(F7): docs/models/fisher.md
"""
