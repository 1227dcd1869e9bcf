"""What all estimators share: options, progress, streams, counts in files.

Floor plan:

    display        How an estimator shows itself: its settings in three lines at most, and a small card in a notebook.
    options        The options that estimators share: one text and one check for each, and the engine that they ask for.
    progress       What a fit says while it runs: nothing unless asked, one line that keeps changing if asked.
    stored_counts  Collections that are files: which estimators fit them, how all of them read them, and what needs
                   counts in memory.
    streams        Learning from batches, one telling for all estimators: ``partial_fit``, more words, and what the
                   stream is like.
"""
