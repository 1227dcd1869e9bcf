"""Documents with several labels: parametric mixtures, label sets, and which labels a new document gets.

Floor plan:

    choice      Which labels a new document gets: greedily (M6), or by shares and thresholds (M7), (M8):
                docs/models/pmm.md
    label_sets  Documents with several labels as (M4) and (M5) want them: counts added up by label set, words looked up
                by label.
    pmm         Parametric mixtures: a document with several labels mixes their words. Equations (M1)-(M6):
                docs/models/pmm.md
"""
