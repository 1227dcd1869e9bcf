"""How good is a topic model, a clustering, a tree? Figures with one documented definition each.

Exact definitions: docs/reference/metrics.md. ``perplexity`` asks whether the model predicts the rest of a document,
``npmi_coherence`` whether the words of a topic belong together, ``topic_diversity`` whether the topics differ. They
take any fitted model with ``transform`` and ``components_``, scikit-learn's own included. Where documents have labels,
``gini`` and ``purity`` ask whether clusters agree with them, ``dendrogram_purity`` and ``tree_f1`` whether a tree does,
``example_f1`` whether predicted sets of labels do. Where queries have relevant documents, ``interpolated_precision``
asks whether these come first.
"""

from topiarist.hierarchy.levels import calibration_error, level_curve
from topiarist.measures.label_agreement import example_f1, gini, interpolated_precision, purity
from topiarist.measures.topic_quality import npmi_coherence, perplexity, topic_diversity
from topiarist.measures.trees import BestNode, best_nodes, dendrogram_purity, tree_f1
from topiarist.measures.word_trees import name_exam, parent_child_coherence, parent_child_diversity, sibling_diversity

__all__ = [
    "BestNode",
    "best_nodes",
    "calibration_error",
    "dendrogram_purity",
    "example_f1",
    "gini",
    "interpolated_precision",
    "level_curve",
    "name_exam",
    "npmi_coherence",
    "parent_child_coherence",
    "parent_child_diversity",
    "perplexity",
    "purity",
    "sibling_diversity",
    "topic_diversity",
    "tree_f1",
]
