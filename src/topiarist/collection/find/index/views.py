"""A query through the models: what each of them wants to meet in a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection.find.index.query_counts import Query
from topiarist.models.engine import SearchKernels, Wanted
from topiarist.models.engine.host import Engine
from topiarist.models.fisher import matrix, scores
from topiarist.models.fisher.scores import Lens


@dataclass(frozen=True)
class View:
    """A query through one lens: P(α|q), what it wants, and the scales of its parts."""

    lens: Lens  # of the query's words alone
    row: Floats
    topical: Floats  # unscaled features
    scales: tuple[float, float]
    wanted: Wanted


def views(
    engine: Engine, kernels: SearchKernels, lenses: Sequence[Lens], query: Query,
    parts: Sequence[Sequence[str]], normalise: str | None, dtype: Any,
) -> list[View]:  # fmt: skip
    """The query through every lens; ``parts`` are those of each of them. Nothing where it holds no words."""
    if not len(query.columns):
        return []
    counts, found, lengths = query.matrix, [], []
    for lens, of_lens in zip(lenses, parts, strict=True):
        own = lens.narrowed(query.columns)
        row = scores.read(engine, own, counts)
        topical = scores.topical(engine, own, counts, row)
        lengths.append((topical**2).sum(axis=1) * ("topical" in of_lens))
        lengths.append(scores.lexical_lengths(engine, kernels, own, counts, row) * ("lexical" in of_lens))
        found.append((own, row, topical[0]))
    scales = [float(scale[0]) for scale in matrix.scales(lengths, query.counts[:1], normalise)]
    return [
        _view(query, *seen, of_lens, (scales[2 * place], scales[2 * place + 1]), dtype)
        for place, (of_lens, seen) in enumerate(zip(parts, found, strict=True))
    ]


def _view(
    query: Query, own: Lens, row: Floats, topical: Floats, of_lens: Sequence[str], scales: tuple[float, float],
    dtype: Any,
) -> View:  # fmt: skip
    words = np.arange(len(query.columns))
    meet, mixture = scores.meeting(own, words, np.broadcast_to(row, (len(words), row.shape[1])))
    meet = meet * (scales[1] * query.shares)[:, None]
    topics = scales[0] * topical
    if own.class_information is None:
        topics = scores.per_root(topics, np.asarray(own.class_prior, np.float64))
    columns = query.columns if "lexical" in of_lens else query.columns[:0]
    wanted = Wanted(
        columns,
        np.ascontiguousarray(meet[: len(columns)], dtype),
        np.ascontiguousarray(mixture[: len(columns)], dtype),
        topics.astype(dtype) if "topical" in of_lens else np.empty(0, dtype),
    )
    return View(own, row[0], topical, scales, wanted)
