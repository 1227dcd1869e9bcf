"""Finding: by words and meaning, by example, and to the end.

Floor plan:

    find     ``topiarist find``: where is it? Also prints what ``similar`` finds.
    review   ``topiarist review``: what is relevant here, is all of it found, and when may I stop?
    similar  ``topiarist similar``: what else is like this?
"""
