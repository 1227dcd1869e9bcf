"""Fisher kernels: how alike documents are, by meaning as well as by words.

Floor plan:

    coarse_model   A fitted tree seen from further away: as many classes as comparing every document with a query can
                   afford.
    fisher_kernel  Fisher kernels as a scikit-learn transformer: how alike documents are, by meaning as well as by
                   words.
    lenses         Fitted models as lenses: what a Fisher kernel needs of PLSA, HPLSA, CAM, HPLC and mixtures on a tree.
"""
