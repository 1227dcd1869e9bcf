"""Remove: documents that leave a collection, with a way back; and documents that are forgotten for good.

Floor plan:
"""
