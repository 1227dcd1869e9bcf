"""How good is it, and how alike: figures with one definition each, and comparisons of trees.

Floor plan:

    bursts            Bursts: stretches of time in which something is spoken of much more often than usual.
    comparison        Two trees over the same documents: how far they agree, which node is which, and what moved.
    evaluation        How good is a tree? Against the labels of its documents where there are any, and by itself.
    label_agreement   How well clusters, sets of labels and rankings agree with given labels. Public as
                      ``topiarist.metrics``.
    map_layout        A map: the tree as circles within circles, near each other where topics speak alike, and documents
                      within them.
    neighbour_map     A map by neighbours: documents that are alike lie near each other, whatever topics they are of.
    node_matching     Which node of one tree is which of another? By the documents they share, so that names survive a
                      new fit.
    placed_documents  Documents in a tree: what comparing, judging and exporting need to know of a collection, and
                      nothing else.
    share_intervals   How much of each group of documents belongs to each topic, with intervals that know how sure the
                      posteriors are.
    side_by_side      Two trees at one level, to be seen side by side: which topic became which, and what became of
                      each.
    steadiness        How steady is a topic? How much of it comes back when trees are grown anew from other halves of
                      the documents.
    topic_quality     How good are topics? Perplexity, coherence, diversity. Public as ``topiarist.metrics``.
    trees             Figures about trees whose documents have labels. Public by the name ``topiarist.metrics``.
    word_trees        Figures about the words of a tree of topics. Public by the name ``topiarist.metrics``.
"""
