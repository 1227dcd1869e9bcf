"""Gaussian mixtures: parameters, starts, fits, how many components, and their overlaps.

Floor plan:

    certainties  How sure a mixture may be of its classes. Equation (G13): docs/models/ggm.md
    covariances  Covariances of several shapes, each as the few functions that EM needs. Equations (G2), (G3):
                 docs/models/ggm.md
    fits         Fits of Gaussian mixtures, many at once: starts, the loop, what came out. Equations (G3)-(G5):
                 docs/models/ggm.md
    mixture      Gaussian mixtures from labelled and unlabelled examples. Equations (G1)-(G4): docs/models/ggm.md
    overlaps     Which components lie close together: measures between them, and the merges they ask for. Equations
                 (G7)-(G11)
    selection    How many components, whose they are, and how much unlabelled examples weigh. Equations (G5), (G6):
                 docs/models/ggm.md
    starts       Where fits of Gaussian mixtures begin. Equations (G3), (G6): docs/models/ggm.md
"""
