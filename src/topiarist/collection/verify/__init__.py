"""Verify: growing and editing a collection once more from its own texts, and seeing whether the bits agree.

Floor plan:

    digests       The digest of a collection: of its texts, counts, parameters, shares, words, and of the tree as people
                  see it.
    replay        Growing a collection once more from its own texts, and doing again what its log says, in another
                  folder.
    verification  Do the bits agree? A collection, and what comes out when it is grown and edited again from its own
                  texts.

Floor plan:
"""
