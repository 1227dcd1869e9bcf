"""Pages of how topics are spread: over time, over groups and labels of documents, and on a map.

Floor plan:

    compare  Do the labels of the documents and the tree agree?
    groups   Who speaks of what, more than the others?
    map      Where does everything lie?
    time     When was what spoken of, and what is new?
"""
