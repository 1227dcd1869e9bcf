"""Remove: documents that leave a collection, with a way back; and documents that are forgotten for good.

Floor plan:

    forgetting  Forgetting documents for good: a new generation is written without them, fitted without them, and looked
                through.
    kept_rows   The parts of a collection without some documents: rows go, everything that was learned stays as it is.
    mentions    Mentions of documents: does an entry of the log, a saved search or a problem speak of some that must be
                forgotten?
    removal     Removing documents: which they are, what would change, and the step that does it and can be taken back.
    traces      Traces of texts: does any file of a folder still hold twenty letters in a row of something that must be
                gone?
    unadding    Taking the last addition of documents back: a generation without them, in the state before, to the last
                bit.

Floor plan:
"""
