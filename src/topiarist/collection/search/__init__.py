"""Search in a collection: ``Query`` → scorers → ``Ranking`` → ``SearchResult``.

``search`` holds a request. The scorers are in ``scorers``, ``index.kernel_scorer`` and ``words.word_scorer``, rankings
in ``index.ranking``, hits and explanations in ``results``. The full text (``storage.fulltext``) knows which documents
have phrases, prefixes and excluded words, and meet filters.
"""
