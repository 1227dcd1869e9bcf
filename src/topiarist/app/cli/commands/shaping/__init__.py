"""Shaping: the tree as somebody wants it, and what its topics are called.

Floor plan:

    name   ``topiarist name``: what could the topics be called, by their words or by a language model of yours?
    shape  ``topiarist shape``: what should the tree look like, and what would that change?
"""
