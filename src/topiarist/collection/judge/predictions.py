"""What a model of labels tells of documents; of those of a collection it is kept with the model, so that pages need not
ask it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.errors import DamagedError
from topiarist.store.tensors import map_tensors, write_tensors

Array = np.ndarray[Any, Any]
ARRAYS = "told.safetensors"
MOST = 20_000  # documents that are looked at; of more, some that are spread evenly
_NUMBERS = ("place", "label", "share", "score")


@dataclass(frozen=True)
class Told:
    """The labels of some documents: the place of each document in the list, the label, and its share of it.

    Where documents have one label there is one for each, and the likeliest heading of every level.
    """

    place: Array
    label: Array
    share: Array
    score: Array  # how clearly the label was given: its share, by the share that it needs where these differ
    best: tuple[Array, Array] | None

    @property
    def plain(self) -> tuple[Array, Array, Array, Array]:
        """Places, labels, shares and scores."""
        return self.place, self.label, self.share, self.score


def spread(n_docs: int, most: int = MOST) -> Array:
    """The rows that are looked at."""
    return np.arange(0, n_docs, max(1, -(-n_docs // most)))


def write_told(folder: Path, rows: Array, told: Told) -> None:
    """Beside the model that tells it."""
    arrays = {"rows": rows, **dict(zip(_NUMBERS, told.plain, strict=True))}
    if told.best is not None:
        arrays |= {"groups": told.best[0], "certainty": told.best[1]}
    write_tensors(folder / ARRAYS, arrays)


def read_told(folder: Path) -> tuple[Array, Told] | None:
    """The rows, and what is told of them; None for a model that was learned before this was kept."""
    if not (folder / ARRAYS).exists():
        return None
    arrays = map_tensors(folder / ARRAYS)
    try:
        best = (arrays["groups"], arrays["certainty"]) if "groups" in arrays else None
        place, label, share, score = (arrays[name] for name in _NUMBERS)
        return arrays["rows"], Told(place, label, share, score, best)
    except KeyError as error:
        raise DamagedError(f"{folder / ARRAYS} is damaged: there is no {error}", hint="topiarist check") from error
