"""Finding documents: one search value over the full-text index and the index by meaning.

Floor plan:

    index/         The index by meaning: documents like a query or a document, with reasons. See docs/models/fisher.md
    empty_answer   What to say of an empty answer: words that nobody has, corrections, the condition that left nothing.
    meaning_index  The index by meaning as a part of a collection. What it has in common with the part before lies on
                   the disk once.
    search         Finding documents in a collection: by words (full text), by meaning (the Fisher kernel of its tree),
                   or both.

Two engines know words. FTS5 (``store.fulltext``) answers what people type: every word of titles and texts, phrases,
beginnings, OR and conditions, ranked by its own BM25. The index by meaning (``find.index``) scores every document by
the Fisher kernel; BM25 over the counted words is its second ingredient, for "both" and for likeness. How a query is
read, a word folded, corrected and highlighted is one for both: ``text.query``, ``text.spelling``, ``text.highlights``.
"""
