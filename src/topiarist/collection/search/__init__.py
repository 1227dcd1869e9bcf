"""Search in a collection: ``Query`` → scorers → ``Ranking`` → ``SearchResult``.

``search`` holds a request. The scorers are in ``default_scorer``, ``example_scorer``, ``index.kernel_scorer`` and
``words.word_scorer``, rankings in ``index.ranking``, hits and explanations in ``results``. The full text
(``storage.fulltext``) answers phrases, prefixes, exclusions and filters, and searches by words alone.
"""
