"""Gaussian mixtures, their hierarchies, and trees made of them.

Floor plan:

    gaussian_tree      A tree of documents by Gaussian mixtures: latent space, mixture, its hierarchy, and the words of
                       every node.
    ggm                Gaussian mixtures as a scikit-learn estimator: clusters, or classes from few labels and many
                       unlabelled examples.
    mixture_hierarchy  The hierarchy of a Gaussian mixture: which components belong together, and how far down an
                       example is certain.
    mixture_pictures   Pictures of Gaussian mixtures: dendrogram, points with ellipses, curves of choices, levels,
                       clusters and labels.
    vector_space       The space that a mixture of many features is fitted in: leading axes around the mean, and
                       directions alone.
"""
