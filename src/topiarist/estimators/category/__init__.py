"""Given categories: PLC, HPLC, hierarchical mixtures and PMM, and the words that decided.

Floor plan:

    calibration       Certainties that a person can act on: scores of unseen documents to probabilities, and the shares
                      of classes.
    categorisers      PLC, HPLC and the hierarchical mixture as classifiers on a given tree, and the calibration of
                      their certainties.
    category_learner  Given categories, learned as labels allow: from class words with few of them to a linear
                      classifier with many.
    class_learning    Learning classes from labelled documents, and telling those of others: what the categorisers
                      share, as functions.
    class_vectors     Where the vectors of classes lie, from labelled documents and from what is guessed of the others.
    class_words       The words of classes, from labelled documents and from what is guessed of the others: the
                      generative half.
    explanation       Why a document is filed where it is: words as evidence, for each label and for each step down the
                      tree.
    given_labels      Labels as people give them: one for each document, none, or several; and where in a tree they are.
    linear            Linear classifiers of documents: damped words by their information, joined with the latent
                      dimensions of all texts.
    one_label         One label for each document: a linear classifier and the words of classes, weighed by documents
                      held out in turn.
    pmm               PMM as a scikit-learn estimator: documents with several labels, and the calibration of their
                      thresholds.
    several_labels    Several labels for each document: a linear classifier for each, and how probable a label must be
                      to be given.
    stored_training   Classes learned from documents that are files: sums over blocks of what their documents teach, and
                      passes of EM.
"""
