"""Trees of topics: CAM and HPLSA, and what all estimators with a tree do.

Floor plan:

    abstraction    What a fitted tree says about documents: which nodes they speak from, word by word, and what they
                   might have said.
    cam            The cluster-abstraction model as a scikit-learn estimator: a tree of topics from unlabelled
                   documents.
    chosen_words   Words that people choose for a tree: some that belong to a node, others that it must not see.
    fitted_tree    A fitted model of any kind as everybody else needs it: its tree, and documents folded in.
    growth_sample  Of very many documents so many as a tree grows from: the others change its words, not its shape.
    hplsa          HPLSA as a scikit-learn estimator: documents in several classes, words at every level of a tree.
    joined_trees   Several fitted trees as one: side by side under one root, as branches of their own or with headings
                   in common.
    posteriors     What estimators of trees do with documents: file them at a certain level, place them, score them.
    preparation    What the estimators of trees share: preparing documents for growth, growing, and remembering the
                   curve.
    refit          Fitting a tree again that people have shaped: documents they pinned have their classes, the others
                   only had them.
    stored_ground  A collection that is files, prepared for growth: tokens parted and weighed block by block, into files
                   beside it.
    tree_streams   Trees from batches: what HPLSA and CAM add to a stream that every estimator learns from in the same
                   way.
"""
