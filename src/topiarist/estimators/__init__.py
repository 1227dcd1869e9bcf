"""Estimators with scikit-learn's contract: the public classes, by kind.

Floor plan:

    category/     Given categories: PLC, HPLC, hierarchical mixtures and PMM, and the words that decided.
    common/       What all estimators share: options, progress, streams, counts in files.
    flat/         Flat models: PLSA and LSI.
    gaussian/     Gaussian mixtures, their hierarchies, and trees made of them.
    similarity/   Fisher kernels: how alike documents are, by meaning as well as by words.
    tree/         Trees of topics: CAM and HPLSA, and what all estimators with a tree do.
    model_folder  A model as a folder: ``model.json`` says what it is, ``model.safetensors`` holds its arrays.
    registry      Which classes a model file may name, and what shapes their arrays must have.
    tree_models   The kinds of trees that a collection can be grown with: one line each, read by everybody who offers or
                  grows them.
"""
