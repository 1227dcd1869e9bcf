"""The index by meaning: documents like a query or a document, with reasons. See docs/models/fisher.md

Floor plan:

    answers       What an index answers: hits, reasons, the way down the tree, and sentences about what could not be
                  understood.
    index_folder  The folder of an index: written at once or a segment at a time, opened mapped after a look at
                  everything.
    packed_rows   P(class | document) in a byte for each class: roots of shares, in steps of the largest root of the
                  document.
    query_counts  A query as an index counts it: a text, a mapping or a row of counts as columns of words and their
                  counts.
    question      A query that is asked of an index: seen through the models, every document scored once, hits
                  explained.
    ranking       From scores to hits: filters, the best of many in a settled order, BM25 and its weight beside the
                  kernel (F7).
    search_index  The search index: a Fisher kernel over all documents of a collection, answered in milliseconds, with
                  reasons.
    segments      Documents laid out for search: postings, the rows of every model, scales; small segments become one.
    soundness     Do the arrays of an index fit together? Compiled kernels look places up without asking, so it is asked
                  first.
    topics        The topics of an index: the words that tell each of them, and the way of a query down the tree.
"""

from __future__ import annotations

from topiarist.collection.find.index.answers import Answer, Branch, Explanation, Hit, Step, TopicReason, WordReason
from topiarist.collection.find.index.search_index import SearchIndex

__all__ = ["Answer", "Branch", "Explanation", "Hit", "SearchIndex", "Step", "TopicReason", "WordReason"]
