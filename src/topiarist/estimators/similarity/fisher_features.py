"""What the explicit features of a Fisher kernel are of, in the order of ``fisher_matrix.features``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from topiarist.errors import UsageError
from topiarist.models.fisher.scores import Lens

MOST_NAMES = 1_000_000


def n_features(lenses: Sequence[Lens], parts: Sequence[str]) -> int:
    """How many features there are."""
    width = 0
    for lens in lenses:
        sizes = {"topical": lens.n_classes, "lexical": lens.by_word.size, "levels": len(_levels(lens))}
        width += sum(size for part, size in sizes.items() if part in parts)
    return width + ("plain" in parts) * len(lenses[0].by_word)


def feature_names(models: Sequence[Any], lenses: Sequence[Lens], parts: Sequence[str], words: Sequence[str]) -> Any:
    """Names such as ``1.plsa64.lexical.bank.3``: the second model, the word *bank* in the sense of its topic 3."""
    number = n_features(lenses, parts)
    if number > MOST_NAMES:
        raise UsageError(
            f"{number:,} features have no names: {MOST_NAMES:,} at most have",
            hint="parts=('topical',), fewer words or fewer topics; a block of columns is one part of one model",
        )
    return np.array(list(_names(models, lenses, parts, words)), dtype=object)


def _names(models: Sequence[Any], lenses: Sequence[Lens], parts: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    for place, (model, lens) in enumerate(zip(models, lenses, strict=True)):
        title = f"{place}.{type(model).__name__.lower()}{lens.n_classes}"
        if "topical" in parts:
            yield from (f"{title}.topical.{number}" for number in range(lens.n_classes))
        if "lexical" in parts:
            yield from (f"{title}.lexical.{word}.{topic}" for word in words for topic in range(lens.n_topics))
        if "levels" in parts:
            yield from (f"{title}.levels.{name}" for name in _levels(lens))
    if "plain" in parts:
        yield from (f"plain.{word}" for word in words)


def _levels(lens: Lens) -> list[str]:
    if lens.mix is None:
        return []
    if not lens.one_class:
        return [str(number) for number in range(lens.n_classes)]
    return [f"{number}.{topic}" for number, weights in enumerate(lens.mix) for topic in np.flatnonzero(weights)]
