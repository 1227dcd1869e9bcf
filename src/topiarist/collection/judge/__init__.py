"""Judge: given categories learned from labels, how good they are, and what people said of them.

Floor plan:

    categories        Given categories as a part of a collection: their headings, and what their model tells of
                      documents.
    filing            Documents of a collection with the categories that were learned, and how good those are by
                      held-out documents.
    heldout_answers   What a model of labels told of documents whose labels it had not seen: kept with it, so that pages
                      can say how good it is.
    judgements        What people said of the labels of documents: an entry for each time, the newest last.
    label_table       Labels from a table: a document's id and its label, in several rows or in one cell where it has
                      several.
    labels_in_topics  The labels that documents have, against the topics of the tree: how many fall together, and how
                      far both agree.
    learner           Learning given categories: from the labels of documents to a model that labels others, with its
                      quality.
    reading_order     In which order documents are read in a review, and what is known after each judgement.
    recall_bound      How many relevant documents there are at most, by draws at random: a bound that holds at every
                      look, however often.
    relevance_model   A model of what is relevant, learned from judgements as they come: logistic regression on tf-idf,
                      and on vectors.
    review            Reviewing a collection for a label: what to read next, what was judged, how much is unfound, and
                      when to stop.
    tree_quality      How good the tree of a collection is: by the labels of its documents, by its words, by words that
                      it had to guess.
"""
