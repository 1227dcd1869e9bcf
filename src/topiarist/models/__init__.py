"""Pure EM mathematics: one module a model, and the only EM loop.

Floor plan:

    engine/        How a block is computed: engines of the host and of a device, and what the rooms above need of the
                   kernels.
    fisher/        Fisher kernels: the scores of a document, what stands for the information, and the matrix.
    gaussian/      Gaussian mixtures: parameters, starts, fits, how many components, and their overlaps.
    labels/        Documents with several labels: parametric mixtures, label sets, and which labels a new document gets.
    cam            The cluster-abstraction model: one cluster for a document, a level of abstraction for each word.
                   (C1)-(C5): docs/models/cam.md
    categorisers   Classes that are known in training: topics of a given tree from labelled documents, the class of new
                   ones.
    directions     A direction for each class beside its words: how documents that come with vectors lie. (V1)-(V3):
                   docs/models/vectors.md
    drift          Has a stream changed? The likelihood of each batch before anything was learned from it, and when it
                   fell for good.
    em             The only EM loop.
    halves         Two means: a cloud of points in two halves, the drop of the squared error saying what the division is
                   worth.
    hplsa          Hierarchical latent classes: words at every level of a tree. Equations (H1)-(H7):
                   docs/models/hplsa.md
    misfits        Documents that are unusual: their likelihood, what is usual for their length, and a bounded memory of
                   misfits.
    online         Streams: stepwise EM over batches of documents, for every model. Equations (P3), (H6), (C3):
                   docs/models/
    plsa           Probabilistic latent semantic analysis. Equations (P1)-(P5): docs/models/plsa.md
    seeds          Words that people say belong to a node: prior tokens of (C3), the same in every M-step.
                   docs/models/cam.md
    sparse_plsa    PLSA that follows only the components in use. Equations (P1)-(P5), (S1)-(S3): docs/models/plsa.md
    word_meetings  In how many documents two words meet: what tells whether words belong together.
"""
