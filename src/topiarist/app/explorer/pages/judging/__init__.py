"""Pages on which people judge documents: where they are filed, and whether they are what is looked for.

Floor plan:

    categories       Where do new documents go, and is the filing good?
    filed_documents  The documents of a category, to be judged: the least certain first.
    review           What is relevant here, is all of it found, and when may I stop?
"""
