"""The words that decided about a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.errors import UsageError
from topiarist.models import greedy, label_shares
from topiarist.models.engine.host import Engine, Floats


@dataclass(frozen=True)
class Evidence:
    """Why a document has a label, or has not: words and what each adds, the most first."""

    label: Any
    predicted: bool
    total: float  # the parts of all words of the document together
    words: Any  # names of the columns where they are known, else their numbers
    parts: Floats

    def __str__(self) -> str:
        told = ", ".join(f"{word} {part:+.3g}" for word, part in zip(self.words[:10], self.parts[:10], strict=True))
        return f"{self.label} ({'predicted' if self.predicted else 'not predicted'}, {self.total:+.3g}): {told}"


def evidence(estimator: Any, engine: Engine, counts: Any, labels: Any, n_words: int | None) -> list[Evidence]:
    """For ``PMM.explain``: the parts of each word in the decision about each label."""
    mixture, classes = estimator._mixture, estimator.classes_
    words, x = counts.indices, counts.data.astype(np.float64)
    share = None
    if len(estimator._without_known_words(counts)):  # the prior's answer, which no word has a part in
        words, x, ranks, gains = words[:0], x[:0], np.zeros(len(classes), int), np.zeros(len(classes))
        chosen = np.array([estimator.label_prior_.argmax()])
    elif estimator._form == "single":  # every label against the best of the others
        ranks, gains = np.zeros(len(classes), int), greedy.label_likelihoods(engine, mixture, counts)[0]
        chosen = np.array([gains.argmax()])
    elif estimator.label_threshold_ is None:
        ranks, gains = (rows[0] for rows in greedy.label_gains(engine, mixture, counts))
        chosen = np.flatnonzero(ranks)[np.argsort(ranks[np.flatnonzero(ranks)])]
    else:
        share = label_shares.shares(engine, mixture.by_word, counts)[0]
        gains = label_shares.margins(share[None], estimator.label_threshold_)[0]
        ranks, chosen = gains > 0, np.flatnonzero(gains > 0)
        chosen = chosen[np.argsort(-gains[chosen])]
    names = getattr(estimator, "feature_names_in_", None)
    told = []
    for label in chosen if labels is None else _numbers(labels, classes):
        if share is None:
            parts = greedy.contributions(mixture, words, x, ranks, gains, int(label))
        else:
            parts = label_shares.word_shares(mixture.by_word, words, x, share, int(label))
        order = np.argsort(-parts, kind="stable")[:n_words]
        shown = words[order] if names is None else names[words[order]]
        total = float(parts.sum())
        told.append(Evidence(classes[label], bool(label in chosen), total, shown, parts[order]))
    return told


def _numbers(labels: Any, classes: Any) -> list[int]:
    wanted = [labels] if isinstance(labels, str) or np.ndim(labels) == 0 else list(labels)
    places = {name: number for number, name in enumerate(classes.tolist())}
    unknown = [name for name in wanted if name not in places]
    if unknown:
        raise UsageError(f"there is no label {unknown[0]!r}", hint=f"one of {', '.join(map(str, classes[:10]))}")
    return [places[name] for name in wanted]
