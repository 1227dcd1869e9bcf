"""Describe: the tree and its topics as people read them, in words, tables and lines.

Floor plan:

    account         The account of a collection: what was read, left out, repeated, copied, undated, and in which
                    languages.
    closeup         A closer look: the words of a topic, and a document word by word. What the command line and the
                    explorer show.
    columns         Columns and dates of a collection in sentences: which there are, of which kind, and what could not
                    be read.
    export          What a collection hands to other programs: rows of documents, topics and words, the tree as text,
                    the model.
    figures         Numbers of a collection at one state, worked out once: homes, sizes and orders of documents, words
                    of topics.
    flat_topics     The topics of a collection, as a person reads them: words that set each apart, its size, its typical
                    documents.
    frames          Tables of a collection for Python: documents, topics, words and shares as Arrow, pandas or polars.
    merges          How the groups of a mixture join step by step: groups at a cut, and where their merges are drawn.
    nodes           The nodes of a fitted tree as a person reads them: their words, their sizes, documents that speak
                    from them.
    notebook_cards  What a collection, its tree, and its topics over time and by group show of themselves in a notebook.
    plots           Pictures as axes of matplotlib: a tree, topics over time, the curve that chose the leaves, two
                    trees.
    problem_list    ``problems.csv``: what was left out, repeated or copied, and the account of the collection, as a
                    table for people.
    provenance      Where a collection comes from: when and how it was grown and fitted, what came since, topics that
                    are gone.
    short_texts     Are the documents too short to be sorted by their words? Told by what the tree gained on words that
                    it had not seen.
    tables          Tables to take away: documents with their topics, topics with their words, words with their
                    probabilities.
    text_levels     From which level and which topic the words of a document speak, word by word.
    topic_tree      The tree of a collection as a person reads it, grown or shaped by people: words, sizes, typical
                    documents.
    two_trees       Two trees over the documents that both have: an earlier state of a collection and now, or two
                    collections.
    voices          Which of the two decided where a document lies, its words or its vector; and which of its topic lie
                    near.
"""
