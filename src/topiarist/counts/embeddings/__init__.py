"""Vectors for documents: from files, from an encoder that is installed, or from a user's program.

Floor plan:

    encoder      A small sentence encoder whose weights are in a package: texts to vectors, on this machine, and nothing
                 is fetched.
    given        Vectors that somebody has: arrays, or files with or without the ids of documents.
    program      Vectors from a program of the user's: JSON lines in (``id``, ``text``), JSON lines out (``id``,
                 ``vector``).
    word_pieces  Texts to the word pieces that the encoder reads: those of BERT (uncased), by the package ``blingfire``.
"""
