"""Why a document was found: the words it shares with the query, in which sense, and the topics. All adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.collection.find.index.answers import Explanation, TopicReason, WordReason
from topiarist.collection.find.index.query_counts import Query
from topiarist.collection.find.index.segments import K1, B, Segment
from topiarist.collection.find.index.views import View
from topiarist.models.fisher import scores
from topiarist.models.fisher.scores import Lens


def explained(
    query: Query, seen: Sequence[View], segment: Segment, row: int, words: Sequence[str],
    topic_words: Sequence[Sequence[tuple[str, ...]]], class_words: Sequence[Sequence[tuple[str, ...]]],
    weights: tuple[float, Any],
) -> Explanation:  # fmt: skip
    """Take a score apart: ``words`` are the query's, ``weights`` the kernel's and BM25's, and either may be nothing."""
    of_kernel, of_words = weights
    counts = segment.counts_of(row, query.columns)
    amounts = np.zeros(len(query.columns))
    best, sense = np.zeros(len(query.columns)), [(-1, -1)] * len(query.columns)
    topics, of_all = [], 0.0
    for model, view in enumerate(seen if of_kernel else ()):
        own, scales = segment.rows[model][row].astype(np.float64), segment.scales[model][row]
        if len(view.wanted.words):
            share = of_kernel * view.scales[1] * scales[1] * query.shares * counts
            parts = share[:, None] * _together(view.lens, view.row, own)
            amounts += parts.sum(axis=1)
            for place in np.flatnonzero(parts.max(axis=1) > best) if parts.shape[1] > 1 else ():
                best[place], sense[place] = parts[place].max(), (model, int(parts[place].argmax()))
        if len(view.wanted.topics) > 1:
            by_class = of_kernel * scales[0] * view.wanted.topics * segment.topical[model][row]
            topics += [
                TopicReason(class_words[model][int(number)], float(by_class[number]), model, int(number))
                for number in np.flatnonzero(by_class > 0)
            ]
        elif len(view.wanted.topics):
            of_all += float(of_kernel * scales[0] * view.wanted.topics[0] * segment.topical[model][row][0])
    by_words = 0.0
    if of_words is not None:
        average, worth = of_words
        norm = K1 * (1 - B + B * float(segment.lengths[row]) / average)
        brought = worth * counts / (counts + norm)
        amounts, by_words = amounts + brought, float(brought.sum())
    found = [
        WordReason(
            words[int(place)], float(amounts[place]),
            topic_words[sense[place][0]][sense[place][1]] if sense[place][0] >= 0 else (), *sense[place],
        )
        for place in np.flatnonzero(amounts > 0)
    ]  # fmt: skip
    score = float(amounts.sum()) + sum(reason.amount for reason in topics) + of_all
    return Explanation(
        score,
        tuple(sorted(found, key=lambda reason: (-reason.amount, reason.word))),
        tuple(sorted(topics, key=lambda reason: (-reason.amount, reason.model, reason.topic))),
        of_all,
        score - by_words,
        by_words,
    )


def _together(lens: Lens, row: Any, other: Any) -> Any:
    """P(ν|q,j) P(ν|d,j) / P(j|ν) for the words of a query, (words, topics)."""
    columns = np.arange(len(lens.by_word))
    ours, theirs = (
        scores.token_posteriors(lens, np.broadcast_to(own, (len(columns), len(own))), columns) for own in (row, other)
    )
    return scores.divided(ours * theirs, lens.word_scale(columns))
