"""PLSA that follows only the components in use. Equations (P1)-(P5), (S1)-(S3): docs/models/plsa.md

EM drives most of a document's proportions P(k|i) towards zero, and zero is zero for ever: from a row with zeros a step
over the other components *is* the EM step (S1). So nothing in a step is approximate. The only liberty is when a
proportion that is on its way to zero is set to zero, and that happens in ``extrapolate``: the loop then sees the
objective of the shortened rows, and if it is lower than before goes back to the rows as they were.

A component is dropped from a document when the last step made it smaller, and less than ``LEAST`` of the document's
tokens are expected to come from it (S2). The words go on changing, and a dropped component may become useful again:
every ``PERIOD`` steps all components are looked at, and those that a document would gain from most come back (S3).
Rows are whole arrays at first, and become lists (``kernels.Active``) as soon as visiting the lists is cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from topiarist.arrays import Array, DTypeLike, Floats
from topiarist.kernels import Active
from topiarist.kernels.shard import Shard, Side, aligned_empty
from topiarist.models import plsa
from topiarist.models.em import State
from topiarist.models.engine.host import Engine, row_pieces
from topiarist.models.plsa import Params, Stats

LANE = 8  # components side by side: what ``kernels.Active`` says
LEAST = 0.01  # tokens
COST = 8  # numbers of a whole row that can be swept in the time of one that is visited
SHORTER = 0.95  # of the lanes: below this it pays to write the lists anew
PERIOD = 8  # steps over lists between two looks at all components
ENTRY = 0.1  # tokens that a component begins with when it comes back
GAIN = 1.02  # how many times the mean of those in use a component must promise to come back
MOST_COMPONENTS = 1 << 16  # two bytes number them
DOCUMENTS = 4096  # in a piece, where the work is by document


class Lists(NamedTuple):
    """Rows without their zeros, and sometimes a lane of components for each document that might come back."""

    active: Active
    age: int = 0  # steps since the rows became lists
    entrants: Array | None = None  # (documents, 8)
    gains: Array | None = None  # (documents, 8), zero where there is none


Rows: TypeAlias = Floats | Lists  # of documents: whole, or without their zeros


@dataclass(frozen=True)
class Lengths:
    """What shortening must know about the documents of a block."""

    words: Array  # different words in each
    least: Floats  # share of each below which a component may go
    entry: Floats  # share of each that a component begins with when it comes back

    @classmethod
    def of(cls, block: Shard, n_components: int) -> Lengths:
        """From the counts of a block in memory. An even row keeps all of its components."""
        indptr, running = block.rows.indptr, np.append(0.0, np.cumsum(block.rows.data, dtype=np.float64))
        tokens, dtype = np.maximum(np.diff(running[indptr]), 1.0), block.rows.data.dtype
        least = np.minimum(LEAST / tokens, 1.0 / n_components)
        return cls(np.diff(indptr), least.astype(dtype), (ENTRY / tokens).astype(dtype))


@dataclass(frozen=True)
class SparsePlsa(plsa.Plsa):
    """The model as the EM loop sees it; rows are arrays or lists. There is no smoothing of components."""

    lengths: tuple[Lengths, ...] = ()  # of the blocks; without them rows stay as they are

    def of(self, blocks: Sequence[Shard], n_components: int) -> SparsePlsa:
        """The model for fitting these blocks."""
        return replace(self, lengths=tuple(Lengths.of(block, n_components) for block in blocks))

    def e_step(self, shared: Params, block: Shard, local: Rows, inverse_temperature: float = 1.0) -> tuple[Stats, Rows]:  # type: ignore[override]
        """(P2) and the document half of (P3), over the components in use where the rows are lists (S1)."""
        if not isinstance(local, Lists):
            return super().e_step(shared, block, local, inverse_temperature)
        if inverse_temperature != 1.0:
            raise ValueError("tempered proportions never become zero: rows cannot be lists")
        active, words = local.active, shared.by_word
        counts, mixture, log_likelihood = document_counts(self.engine, block, active, words)
        word_count = word_counts(self.engine, block, mixture, active, words)
        rows = Lists(normalised(self.engine, counts, active), local.age + 1)
        if local.age % PERIOD == 0:
            rows = Lists(rows.active, rows.age, *entrants(self.engine, block.rows, active, words))
        return Stats(word_count, log_likelihood), rows

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """See ``em``: both kinds of parameters go on, and documents leave behind what they hardly use (S2)."""
        if not self.lengths:
            return super().extrapolate(old, new, stride)
        shared = super().extrapolate(State(old.shared, ()), State(new.shared, ()), stride).shared
        rows = zip(old.local, new.local, self.lengths, strict=True)
        return State(shared, tuple(self._shortened(*each, stride) for each in rows))

    def _shortened(self, before: Rows, after: Rows, lengths: Lengths, stride: float) -> Rows:
        if isinstance(after, Lists) and isinstance(before, Lists):
            ahead = self.engine.look_ahead(before.active.values, after.active.values, stride)
            active = shortened(self.engine, before.active, after.active, lengths.least, ahead)
            if after.entrants is not None and after.gains is not None:
                active = extended(self.engine, active, after.entrants, after.gains > 0, lengths.entry)
            return Lists(active, after.age)
        if isinstance(after, Lists) or isinstance(before, Lists):
            raise TypeError("rows that are lists do not become whole again")
        ahead, least, n_components = self.ahead(before, after, stride), lengths.least, after.shape[1]
        sizes = np.concatenate(
            self.engine.threads.map(
                lambda rows: np.count_nonzero(_used(before[rows], after[rows], least[rows]), axis=1),
                row_pieces(after),
            )
        )
        visits = float(lengths.words @ (-(-sizes // LANE) * LANE))
        if n_components > MOST_COMPONENTS or COST * visits > n_components * float(lengths.words.sum()):
            return ahead
        return Lists(listed(self.engine, before, after, least, ahead, sizes))

    def log_likelihood(self, shared: Params, rows: Side, local: Rows) -> float:
        """Σ n log P(j|i)."""
        whole = spread(local.active, shared.by_word.shape[1]) if isinstance(local, Lists) else local
        return super().log_likelihood(shared, rows, whole)

    def bound(self, state: State, blocks: Sequence[Shard]) -> float:
        """(S3): by how much better rows over all components could raise the log-likelihood at most, given the words.

        Zero where no component has been dropped from any row.
        """
        return sum(
            most_gain(self.engine, block.rows, local.active, state.shared.by_word)
            for block, local in zip(blocks, state.local, strict=True)
            if isinstance(local, Lists)
        )


def _used(before: Floats, after: Floats, least: Floats) -> Array:
    """(S2): what a document keeps."""
    return (after > 0) & ((after >= least[:, None]) | (after >= before))


def document_counts(engine: Engine, shard: Shard, active: Active, words: Floats) -> tuple[Active, Floats, float]:
    """Expected counts of the components in use, the mixture of each non-zero (by word), and the log-likelihood."""
    tiles, out = shard.words, aligned_empty(active.values.shape, active.values.dtype)
    mixture = np.empty(len(tiles.data), words.dtype)

    def piece(tile: int) -> float:
        indptr, documents = tiles.indptr[tile], slice(tiles.starts[tile], tiles.starts[tile + 1] + 1)
        own = active._replace(ends=active.ends[documents])
        engine.kernels.active_document_counts(indptr, tiles.indices, tiles.data, own, words, out, mixture)
        here = slice(indptr[0], indptr[-1])
        logs = engine.threads.scratch(here.stop - here.start, words.dtype)
        return float(engine.kernels.weighted_sum(tiles.data[here], np.log(mixture[here], out=logs)))

    log_likelihood = sum(engine.threads.map(piece, range(len(tiles.indptr))))
    return active._replace(values=out), mixture, log_likelihood


def word_counts(engine: Engine, shard: Shard, mixture: Floats, active: Active, words: Floats) -> Floats:
    """Expected counts of each word's components."""
    tiles, out = shard.words, aligned_empty(words.shape, words.dtype)

    def piece(rows: slice) -> None:
        indptr = tiles.indptr[:, rows.start : rows.stop + 1]
        engine.kernels.active_word_counts(
            indptr, tiles.starts, tiles.indices, tiles.data, mixture, active, words[rows], out[rows]
        )

    engine.threads.map(piece, tiles.pieces(4 * engine.threads.n_threads))
    return out


def normalised(engine: Engine, counts: Active, otherwise: Active) -> Active:
    """Rows to sum one, in place; where there is nothing, the other rows."""
    engine.threads.map(
        lambda rows: engine.kernels.normalise_active(
            counts.ends[rows.start : rows.stop + 1], counts.values, otherwise.values
        ),
        document_pieces(counts),
    )
    return counts


def shortened(engine: Engine, before: Active, after: Active, least: Floats, values: Floats) -> Active:
    """``after`` with these values, without what its documents hardly use and used more before (S2)."""
    sizes, pieces = np.empty(len(least), np.int64), document_pieces(after)

    def part(rows: slice) -> Active:
        return after._replace(ends=after.ends[rows.start : rows.stop + 1])

    engine.threads.map(
        lambda rows: engine.kernels.count_used(part(rows), before.values, least[rows], sizes[rows]), pieces
    )
    ends = lane_ends(sizes)
    if ends[-1] > SHORTER * len(after.values):
        return normalised(engine, after._replace(values=values), after)
    out = empty_lists(ends, values.dtype)
    engine.threads.map(
        lambda rows: engine.kernels.keep_used(
            part(rows), before.values, least[rows], values, out._replace(ends=ends[rows.start : rows.stop + 1])
        ),
        pieces,
    )
    return normalised(engine, out, out)


def listed(engine: Engine, before: Floats, after: Floats, least: Floats, values: Floats, sizes: Array) -> Active:
    """The same from rows that are arrays, with ``sizes`` components each."""
    ends = lane_ends(sizes)
    out = empty_lists(ends, values.dtype)
    out.components[:], out.values[:] = 0, 0

    def piece(rows: slice) -> None:
        documents, components = np.nonzero(_used(before[rows], after[rows], least[rows]))
        first = np.cumsum(sizes[rows]) - sizes[rows]
        places = LANE * ends[rows][documents] + np.arange(len(documents)) - first[documents]
        out.components.reshape(-1)[places] = components
        out.values.reshape(-1)[places] = values[rows][documents, components]

    engine.threads.map(piece, row_pieces(after))
    return normalised(engine, out, out)


def extended(engine: Engine, active: Active, components: Array, wanted: Array, entry: Floats) -> Active:
    """Another lane for each document that wants one: the components that come back, with ``entry`` each."""
    more = wanted.any(axis=1)
    out = empty_lists(active.ends + np.append(0, np.cumsum(more)), active.values.dtype)
    new = np.zeros(len(out.values), bool)
    new[out.ends[1:][more] - 1] = True
    out.components[new], out.components[~new] = components[more], active.components
    out.values[new], out.values[~new] = wanted[more] * entry[more, None], active.values
    return normalised(engine, out, out)


def entrants(engine: Engine, side: Side, active: Active, words: Floats) -> tuple[Array, Floats]:
    """(S3): for each document up to eight components that it does not use, and what they promise."""
    found = np.empty((side.n_rows, LANE), np.uint16), np.empty((side.n_rows, LANE))

    def piece(rows: slice) -> None:
        indptr, ends = (array[rows.start : rows.stop + 1] for array in (side.indptr, active.ends))
        here, own = (array[rows] for array in found), active._replace(ends=ends)
        engine.kernels.active_entrants(indptr, side.indices, side.data, own, words, GAIN, *here)

    engine.threads.map(piece, side.pieces)
    return found


def most_gain(engine: Engine, side: Side, active: Active, words: Floats) -> float:
    """(S3): Σ over documents of n(i) log max_k gain(i,k)."""

    def piece(rows: slice) -> float:
        indptr, ends = (array[rows.start : rows.stop + 1] for array in (side.indptr, active.ends))
        tokens = np.add.reduceat(np.append(side.data[indptr[0] : indptr[-1]], 0.0), indptr[:-1] - indptr[0])
        every = np.empty((len(tokens), words.shape[1]), words.dtype)
        engine.kernels.active_gains(indptr, side.indices, side.data, active._replace(ends=ends), words, every)
        return float(tokens @ np.log(np.maximum(every.max(axis=1), 1.0)))

    return sum(engine.threads.map(piece, side.pieces))


def lane_ends(sizes: Array) -> Array:
    """Where the lanes of each document end, for so many components each."""
    return np.append(0, np.cumsum(-(-sizes // LANE)))


def empty_lists(ends: Array, dtype: DTypeLike) -> Active:
    """Room for so many lanes."""
    shape = (int(ends[-1]), LANE)
    return Active(ends, aligned_empty(shape, np.uint16), aligned_empty(shape, dtype))


def document_pieces(active: Active) -> list[slice]:
    """Slices of documents: as many as there are, whoever computes them."""
    cuts = [*range(0, len(active.ends) - 1, DOCUMENTS), len(active.ends) - 1]
    return [slice(a, b) for a, b in pairwise(cuts)]


def spread(active: Active, n_components: int) -> Floats:
    """Lists as whole rows."""
    rows = np.zeros((len(active.ends) - 1, n_components), active.values.dtype)
    documents = np.repeat(np.arange(len(rows)), LANE * np.diff(active.ends)).reshape(-1, LANE)
    used = active.values > 0
    rows[documents[used], active.components[used]] = active.values[used]
    return rows


def mean_used(local: Sequence[Rows]) -> float:
    """Components that a document uses on average."""
    used = sum(np.count_nonzero(rows.active.values if isinstance(rows, Lists) else rows) for rows in local)
    return used / max(1, sum(len(rows.active.ends) - 1 if isinstance(rows, Lists) else len(rows) for rows in local))
