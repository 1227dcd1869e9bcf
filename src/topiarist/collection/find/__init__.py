"""Finding documents: one search value over the full-text index and the index by meaning.

Floor plan:

    index/           The index by meaning: documents like a query or a document, with reasons. See docs/models/fisher.md
    words/           Every word of every document, by stems: what the default ranking knows beside the tree.
    default_ranking  The ranking that a user gets: words in every form, what the tree knows of them, and words that are
                     used alike.
    empty_answer     What to say of an empty answer: words that nobody has, corrections, the condition that left
                     nothing.
    index_part       The index by meaning as a part of a collection. What it has in common with the part before lies on
                     the disk once.
    liked_question   More like these, not like those: documents that somebody has pointed at, beside words or alone.
    saved_searches   Saved searches: a query under a name, kept with the collection, asked again whenever somebody wants
                     it.
    search           Finding documents in a collection: by words and meaning together, by words alone (full text), or by
                     meaning alone.
    set_question     More like these, not like those: several documents asked of the index by meaning as one question
                     (Rocchio).
    shortlist        Which documents of a large collection a question looks at: those that are best by words, and those
                     that lie nearest.
    vector_voice     The voice of vectors in finding: how near documents lie to a document, to several, or to a question
                     that is encoded.

Two engines know words. FTS5 (``store.fulltext``) answers what people type: every word of titles and texts, phrases,
beginnings, OR and conditions, ranked by its own BM25. The index by meaning (``find.index``) scores every document by
the Fisher kernel; BM25 over the counted words is its second ingredient, for "both" and for likeness. How a query is
read, a word folded, corrected and highlighted is one for both: ``text.query``, ``text.spelling``, ``text.highlights``.
"""
