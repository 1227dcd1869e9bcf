"""What an answer is worth: agreement with labels, coherence and difference of its words, purity of its tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.comparison.piles import Pile

KEPT = ("seconds", "clock", "megabytes", "versions", "score", "layers", "new", "again", "kept")


def judged(answer: dict[str, Any], pile: Pile) -> dict[str, Any]:
    """The figures of one answer; those that it cannot have are absent."""
    kept = {name: answer[name] for name in KEPT if name in answer}
    if "labels" not in answer:
        return kept
    from sklearn.metrics import normalized_mutual_info_score as nmi

    from topiarist import Tree
    from topiarist.metrics import dendrogram_purity, npmi_coherence, topic_diversity

    labels = np.array(answer["labels"])
    kept["nmi"] = float(nmi(pile.fine, labels))
    kept["groups"] = len(set(labels[labels >= 0].tolist()))
    kept["left_out"] = float(np.mean(labels < 0))
    told = [words for words in answer["topics"] if len(words) > 1]
    if told:
        kept["topics"] = len(told)
        kept["npmi"] = float(npmi_coherence(told, pile.counts).mean())
        kept["diversity"] = topic_diversity(told, top_n=10)
    if "parents" in answer and len(answer["parents"]) > 1:
        there = labels >= 0
        tree = Tree(tuple(answer["parents"]))
        kept["purity"] = float(dendrogram_purity(tree, labels[there], pile.coarse[there]))
    return kept
