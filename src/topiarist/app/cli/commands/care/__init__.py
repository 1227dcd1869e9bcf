"""Care: is the collection whole, is everything here that is needed?

Floor plan:

    check   ``topiarist check``: is the collection whole?
    doctor  ``topiarist doctor``: is everything here that topiarist needs?
    verify  ``topiarist verify``: does the same come out again, to the last bit?
"""
