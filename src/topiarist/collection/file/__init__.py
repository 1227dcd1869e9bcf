"""File: where new documents belong, how sure that is, and how they are added.

Floor plan:

    additions   Documents that are kept: the parts that they bring along, what the model learns from them, and what is
                let go.
    arrivals    Filing new documents, as fast as they come: where each belongs, how sure, which words decided; adding
                them.
    file_moves  Files into folders that are named as the topics are.
    misfits     Documents that do not fit: of another language, or of words that the collection does not know.
    new_topics  New topics for documents that fit nowhere: what they have in common, and where it would hang in the
                tree.
    placer      New documents in a tree: where they belong, how sure that is, which words decided, and whether they fit
                at all.
"""
