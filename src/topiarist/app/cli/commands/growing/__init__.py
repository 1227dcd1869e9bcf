"""Growing: a tree, of a collection that is kept or of documents that are only looked at.

Floor plan:

    grow    ``topiarist grow``: which topics, and which of them belong together? Kept in a folder, and printed.
    topics  ``topiarist topics``: what is this collection about?
"""
