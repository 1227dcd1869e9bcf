"""Finding documents: one search value over the full-text index and the index by meaning.

Two engines know words. FTS5 (``store.fulltext``) answers what people type: every word of titles and texts, phrases,
beginnings, OR and conditions, ranked by its own BM25. The index by meaning (``find.index``) scores every document by
the Fisher kernel; BM25 over the counted words is its second ingredient, for "both" and for likeness. How a query is
read, a word folded, corrected and highlighted is one for both: ``text.query``, ``text.spelling``, ``text.highlights``.
"""
