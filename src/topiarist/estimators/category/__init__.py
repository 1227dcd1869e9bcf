"""Given categories: PLC, HPLC, hierarchical mixtures and PMM, and the words that decided.

Floor plan:

    categorisers    PLC, HPLC and the hierarchical mixture as scikit-learn classifiers: documents into the classes of a
                    given tree.
    class_learning  Learning classes from labelled documents, and telling those of others: what the categorisers share,
                    as functions.
    explanation     Why a document is filed where it is: words as evidence, for each label and for each step down the
                    tree.
    given_labels    Labels as people give them: one for each document, none, or several; and where in a tree they are.
    pmm             PMM as a scikit-learn estimator: documents with several labels, words mixed from them.
"""
