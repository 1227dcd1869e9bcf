"""Filing: documents that come, that go, that are there twice, and the categories they belong to.

Floor plan:

    duplicates  ``topiarist duplicates``: what is there more than once?
    file        ``topiarist file``: where do new documents belong, and which of them belong nowhere?
    learn       ``topiarist learn``: given categories, learned from examples; how good are they?
    remove      ``topiarist remove``: which documents should not be in here, and what goes with them?
"""
