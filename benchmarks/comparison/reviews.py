"""A review: documents about one label are looked for, from one relevant and one other document, until 95% are found.

Judgements are the labels. Told is the mean share of the collection that was read by then, over the largest labels of 1
to 10% of it; both begin with the same two documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.comparison.answers import Fit
from benchmarks.comparison.piles import Pile

LEAST, MOST, LABELS, TARGET = 0.01, 0.10, 5, 0.95


def ours(pile: Pile, number: int) -> Fit:
    """The order in which `topiarist review` proposes documents."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    from topiarist.collection.review.reading_order import USER_CHOICE, ReadingOrder
    from topiarist.collection.review.relevance_model import compute_features

    read = compute_features(csr_array(CountVectorizer(min_df=3, dtype=np.float32).fit_transform(pile.texts)))

    def reviewed(relevant: np.ndarray, first: list[int], wanted: int) -> int:
        order = ReadingOrder(read, np.random.default_rng(0).permutation(len(relevant)))
        for row in first:
            order.judge(row, relevant=bool(relevant[row]), draw=USER_CHOICE)
        while order.found < wanted and (following := order.next()) is not None:
            order.judge(following[0], bool(relevant[following[0]]), following[1])
        return len(order.answers)

    return _over_labels(pile, reviewed)


def asreview(pile: Pile, number: int) -> Fit:
    """ASReview's simulation with the model that it has by default (ELAS u4), fitted again after each judgement."""
    import os
    import tempfile

    os.chdir(tempfile.mkdtemp())  # it writes a cache where it is imported
    import pandas as pd
    from asreview.learner import ActiveLearningCycle
    from asreview.models import get_ai_config
    from asreview.models.stoppers import NLabeled
    from asreview.simulation.simulate import Simulate

    texts = pd.DataFrame({"title": "", "abstract": pile.texts})

    def reviewed(relevant: np.ndarray, first: list[int], wanted: int) -> int:
        class Found(NLabeled):
            def stop(self, results: Any, data: Any) -> bool:
                return int(results["label"].sum()) >= self.n

        cycle = ActiveLearningCycle.from_meta(get_ai_config()["value"])
        review = Simulate(texts, relevant.astype(int), [cycle], stopper=Found(wanted), print_progress=False)
        review.label(first)
        review.review()
        return len(review._results)

    return _over_labels(pile, reviewed)


def _over_labels(pile: Pile, reviewed: Callable[[np.ndarray, list[int], int], int]) -> Fit:
    every = pile.every
    number = Counter(label for own in every for label in set(own))
    chosen = [label for label, often in sorted(number.items(), key=lambda one: (-one[1], one[0]))]
    chosen = [label for label in chosen if LEAST <= number[label] / len(every) <= MOST][:LABELS]

    def fit() -> dict[str, Any]:
        shares = []
        for place, label in enumerate(chosen):
            relevant = np.array([label in own for own in every])
            rng = np.random.default_rng(place)
            first = [int(rng.choice(np.flatnonzero(which))) for which in (relevant, ~relevant)]
            shares.append(reviewed(relevant, first, int(np.ceil(TARGET * relevant.sum()))) / len(every))
        return {"score": float(np.mean(shares))}

    return fit
