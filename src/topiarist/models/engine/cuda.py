"""The engine on a CUDA device: the methods of ``engine.Engine``, on arrays that stay there through a fit.

``to_device`` and ``to_host`` move parameters at the start and at the end. A method may also be given NumPy arrays: it
copies them to the device and its results back, to where the array came from that the result is like. So nothing that
works on the processor fails here; it may only be slower.

Sums are added in an order that depends on the counts alone, unless ``atomic`` says that speed matters more. Collections
that do not fit into ``device_memory`` bytes (None: what is free) are cut into blocks that visit the device in turn, see
``cuda_counts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np

from topiarist.arrays import Csr, DTypeLike, Floats, Ints
from topiarist.kernels import SMALLEST_MIXTURE, Folding, Paths
from topiarist.kernels.cuda.memory import DeviceArray, Memory, free_memory, new_stream
from topiarist.kernels.cuda.verbs import Verbs
from topiarist.kernels.shard import Shard, Side
from topiarist.models.em import State
from topiarist.models.engine import cuda_counts, cuda_growth
from topiarist.models.engine.cuda_counts import CudaShard, CudaSide, Swept, array_of, swept_rows, swept_words
from topiarist.models.engine.host import TINY, Engine
from topiarist.scale.threads import Threads

Numbers: TypeAlias = Floats | DeviceArray  # of the host, or of the device


@dataclass(frozen=True)
class CudaEngine(Engine):
    """How a block is computed on a device: ``CudaEngine.start(threads)`` makes one.

    ``threads`` do what only the host can do.
    """

    verbs: Verbs
    parking: cuda_counts.Parking
    atomic: bool = False
    followed: list[Any] = field(default_factory=list, compare=False)  # the last paths, and where they are

    @classmethod
    def start(cls, threads: Threads, *, atomic: bool = False, device_memory: int | None = None) -> Self:
        """An engine with a stream and memory of its own."""
        memory = Memory(new_stream(), free_memory() if device_memory is None else device_memory)
        verbs = Verbs(memory)
        return cls(verbs.record(), threads, verbs, cuda_counts.Parking(memory), atomic)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as a wish: another process has a device of its own."""
        return _there, (type(self), self.atomic)

    @property
    def memory(self) -> Memory:
        """Of the device."""
        return self.verbs.memory

    @property
    def executor(self) -> cuda_counts.Streamed:
        """One block after the other; those that are parked are fetched while the one before is computed."""
        return cuda_counts.Streamed(self.parking)

    # ---- what comes to the device, and what goes back

    def side(self, counts: Csr, dtype: DTypeLike) -> CudaSide:
        """See ``Engine.side``."""
        side = Side.of(counts, dtype)
        return CudaSide(side.indptr, side.indices, side.data, side.cuts, swept_rows(self.verbs, side))

    def sides(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Iterator[CudaSide]:
        """See ``Engine.sides``: on the device one after the other."""
        cuts = self._cuts(counts, dtype, n_components)
        if len(cuts) == 2:
            yield self.side(counts, dtype)
            return
        for start, stop in pairwise(cuts):
            yield self.side(counts[start:stop], dtype)

    def _cuts(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[int]:
        return cuda_counts.block_cuts(counts, np.dtype(dtype).itemsize, n_components, self.memory.limit)

    def shard(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Any:
        """See ``Engine.shard``."""
        rows, n_words = self.side(counts, dtype), int(counts.shape[1])
        words = swept_words(self.verbs, rows.swept, n_words, n_components)
        totals = self._products(words, self._filled((rows.n_rows, 1), rows.data.dtype, 1.0), n_words, np.float64)
        return CudaShard(rows, words, totals.numpy()[:, 0], self.uniform_rows)

    def shards(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[Any]:
        """See ``Engine.shards``: one block where the device can hold all, or parked ones of which it can hold two."""
        cuts = self._cuts(counts, dtype, n_components)
        if len(cuts) == 2:
            return [self.shard(counts, dtype, n_components)]
        blocks = (counts[start:stop] for start, stop in pairwise(cuts))
        return [self.parking.parked_shard(self.shard(block, dtype, n_components)) for block in blocks]

    def holds(self, counts: Csr, dtype: DTypeLike, n_classes: int) -> bool:
        """See ``Engine.holds``: where the device has room for the counts and a few trees."""
        return len(self._cuts(counts, dtype, cuda_growth.TREES * n_classes)) == 2

    def to_device(self, value: Any) -> Any:
        """See ``Engine.to_device``; parked rows stay parked."""
        if isinstance(value, np.ndarray) and not isinstance(value, cuda_counts.Parked):
            return self.memory.put(value)
        if isinstance(value, State):
            return State(self.to_device(value.shared), tuple(map(self.to_device, value.local)))
        return value.moved(self.to_device) if hasattr(value, "moved") else value

    def to_host(self, value: Any) -> Any:
        """See ``Engine.to_host``."""
        if isinstance(value, DeviceArray):
            return value.numpy()
        if isinstance(value, cuda_counts.Parked):
            return self.parking.copied(value)
        if isinstance(value, State):
            return State(self.to_host(value.shared), tuple(map(self.to_host, value.local)))
        return value.moved(self.to_host) if hasattr(value, "moved") else value

    def beside(self, array: Numbers, value: Floats) -> Any:
        """See ``Engine.beside``."""
        return self.memory.put(value) if isinstance(array, DeviceArray) else value

    def uniform_rows(self, n_rows: int, n_components: int, dtype: DTypeLike) -> Any:
        """See ``Engine.uniform_rows``."""
        return self._filled((n_rows, n_components), dtype, 1.0 / n_components)

    def _filled(self, shape: tuple[int, ...], dtype: DTypeLike, value: float) -> DeviceArray:
        out = self.memory.empty(shape, dtype)
        self.verbs.fill(out.array, value)
        return out

    def _here(self, array: Numbers) -> DeviceArray:
        """An array on the device, copied if need be."""
        return array if isinstance(array, DeviceArray) else self.memory.put(array)

    def _back(self, out: DeviceArray, like: Numbers) -> Any:
        """A result where the other array is."""
        if isinstance(like, cuda_counts.Parked):
            return self.parking.park(out)
        return out if isinstance(like, DeviceArray) else out.numpy()

    def _rows(self, side: Side) -> Swept:
        swept = side.swept if isinstance(side, CudaSide) else swept_rows(self.verbs, side)
        return swept.moved(self._here)

    def _words(self, shard: Shard | CudaShard, n_components: int) -> Swept:
        return self._block(shard, n_components).words.moved(self._here)

    def _block(self, shard: Shard | CudaShard, n_components: int) -> CudaShard:
        """A shard as the device sweeps it; one of the host is brought and turned, and let go after its sweep."""
        if isinstance(shard, CudaShard):
            return shard
        side, n_words = shard.rows, shard.shape[1]
        swept = swept_rows(self.verbs, side)
        rows = CudaSide(side.indptr, side.indices, side.data, side.cuts, swept)
        return CudaShard(rows, swept_words(self.verbs, swept, n_words, n_components), range(n_words), self.uniform_rows)

    def _products(self, swept: Swept, other: DeviceArray, n_rows: int, dtype: DTypeLike | None) -> DeviceArray:
        """Σ counts times rows of the other factor, for each row of the counts in this order."""
        out = self.memory.empty((n_rows, other.shape[1]), dtype or other.dtype)
        _, indices, data, cut = swept.moved(array_of)
        self.verbs.row_products(cut, indices, data, other.array, out.array)
        return out

    # ---- sweeps

    def expected_counts(self, shard: Shard | CudaShard, documents: Numbers, words: Numbers) -> tuple[Any, Any, float]:
        """See ``Engine.expected_counts``; ``atomic`` makes one sweep of the two."""
        shard = shard if self.atomic else self._block(shard, words.shape[1])
        if not self.atomic:
            doc_count, log_likelihood = self.document_counts(shard, documents, words)
            return doc_count, self.word_counts(shard, words, documents), log_likelihood
        own, other = self._here(documents), self._here(words)
        sums = self.memory.empty(other.shape, other.dtype)
        out, log_likelihood = self._document_counts(shard, own, other, sums)
        return self._back(out, documents), self._back(sums, words), log_likelihood

    def document_counts(self, shard: Shard | CudaShard, documents: Numbers, words: Numbers) -> tuple[Any, float]:
        """See ``Engine.document_counts``."""
        out, log_likelihood = self._document_counts(shard, self._here(documents), self._here(words), None)
        return self._back(out, documents), log_likelihood

    def _document_counts(
        self, shard: Shard | CudaShard, own: DeviceArray, other: DeviceArray, sums: DeviceArray | None
    ) -> tuple[DeviceArray, float]:
        swept = self._rows(shard.rows)
        out, mixture = self.memory.empty(own.shape, own.dtype), self.memory.empty(swept.data.shape, own.dtype)
        _, indices, data, cut = swept.moved(array_of)
        arguments = (cut, indices, data, own.array, other.array, out.array, mixture.array)
        if sums is None:
            self.verbs.document_counts(*arguments)
        else:
            self.verbs.scattered_counts(*arguments, sums.array)
        return out, self.verbs.weighted_logs(data, mixture.array)

    def word_counts(self, shard: Shard | CudaShard, words: Numbers, documents: Numbers) -> Any:
        """See ``Engine.word_counts``."""
        own, other, swept = self._here(words), self._here(documents), self._words(shard, words.shape[1])
        out = self.memory.empty(own.shape, own.dtype)
        _, indices, data, cut = swept.moved(array_of)
        self.verbs.word_counts(cut, None, indices, data, own.array, other.array, out.array)
        return self._back(out, words)

    def log_likelihood(self, side: Side, own: Numbers, other: Numbers) -> float:
        """See ``Engine.log_likelihood``."""
        mine, others, swept = self._here(own), self._here(other), self._rows(side)
        mixture = self.memory.empty(swept.data.shape, mine.dtype)
        _, indices, data, cut = swept.moved(array_of)
        self.verbs.mixtures(cut, indices, mine.array, others.array, mixture.array)
        return self.verbs.weighted_logs(data, mixture.array)

    def log_likelihoods(self, side: Side, own: Numbers, other: Numbers) -> Any:
        """See ``Engine.log_likelihoods``."""
        mine, others, swept = self._here(own), self._here(other), self._rows(side)
        mixture = self.memory.empty(swept.data.shape, mine.dtype)
        out = self.memory.empty((side.n_rows,), np.float64)
        indptr, indices, data, cut = swept.moved(array_of)
        self.verbs.mixtures(cut, indices, mine.array, others.array, mixture.array)
        self.verbs.log_sums(indptr, data, mixture.array, out.array)
        return out.numpy()

    def fold_in(self, side: Side, own: Numbers, other: Numbers, folding: Folding) -> Any:
        """See ``Engine.fold_in``."""
        others, swept = self._here(other), self._rows(side)
        out = self.memory.copied(own) if isinstance(own, DeviceArray) else self.memory.put(own)
        indptr, indices, data, _ = swept.moved(array_of)
        self.verbs.fold_in(indptr, indices, data, out.array, others.array, folding)
        return self._back(out, own)

    def row_products(self, side: Side, other: Numbers, dtype: DTypeLike | None = None) -> Any:
        """See ``Engine.row_products``."""
        return self._back(self._products(self._rows(side), self._here(other), side.n_rows, dtype), other)

    def class_words(self, posterior: Numbers, *shards: Shard | CudaShard) -> Iterator[Any]:
        """See ``Engine.class_words``: the device reads whole rows."""
        yield from (self.word_products(shard, posterior) for shard in shards)

    def word_products(self, shard: Shard | CudaShard, other: Numbers, dtype: DTypeLike | None = None) -> Any:
        """See ``Engine.word_products``."""
        return self._back(
            self._products(self._words(shard, other.shape[1]), self._here(other), shard.shape[1], dtype), other
        )

    # ---- paths of a tree

    def climb(self, own: Numbers, paths: Paths) -> Any:
        """See ``Engine.climb``."""
        mine = self._here(own)
        out = self.memory.empty((mine.shape[1], len(paths.ends) - 1), mine.dtype)
        self.verbs.climb(mine.array, self._along(paths), 0, out.array)
        return self._back(out, own)

    def _along(self, paths: Paths) -> Paths:
        """Paths as kernels take them; those of the last call are still there."""
        if not self.followed or self.followed[0] is not paths:
            self.followed[:] = paths, [self._here(part) for part in paths]
        return Paths(*(part.array for part in self.followed[1]))

    def descend(self, own: Numbers, words: Numbers, counts: Numbers, paths: Paths) -> tuple[Any, Any]:
        """See ``Engine.descend``; what belongs to paths is on the host."""
        out = self.memory.empty(own.shape, own.dtype)
        path_counts = self._handed_down(own, words, counts, paths, out)
        return self._back(out, own), path_counts

    def path_counts(self, own: Numbers, words: Numbers, counts: Numbers, paths: Paths) -> Any:
        """See ``Engine.path_counts``."""
        return self._handed_down(own, words, counts, paths, self.memory.empty((0, own.shape[1]), own.dtype))

    def _handed_down(self, own: Numbers, words: Numbers, counts: Numbers, paths: Paths, out: DeviceArray) -> Any:
        mine, given, counted = map(self._here, (own, words, counts))
        sums = self.memory.empty((len(paths.classes),), np.float64)
        self.verbs.descend(mine.array, given.array, counted.array, self._along(paths), 0, out.array, sums.array)
        total = np.zeros((counts.shape[1], len(own)))
        total[paths.classes, np.repeat(np.arange(len(own)), np.diff(paths.node_ends))] = sums.numpy()
        return total

    # ---- what growing needs

    def group_words(
        self, shard: Shard | CudaShard, groups: Sequence[Ints], collection: Floats, prior_tokens: float
    ) -> Any:
        """See ``Engine.group_words``: on the device."""
        dtype, n_groups = shard.rows.data.dtype, len(groups)
        held = cuda_growth.memberships(self.verbs, shard.rows.n_rows, groups, dtype)
        counts = self._products(self._words(shard, held.shape[1]), held, len(collection), None)
        out = self.memory.empty((n_groups, len(collection)), dtype)
        self.verbs.turn(counts.array, out.array)
        return self.normalise_rows(self.add_outer(out, np.full(n_groups, prior_tokens), collection), 0.0)

    def class_tables(self, shard: Shard | CudaShard, class_given_doc: Numbers) -> tuple[Any, Any]:
        """See ``Engine.class_tables``: on the device, where the shares are there."""
        shares, n_words = self._here(class_given_doc), shard.shape[1]
        words = self._words(shard, shares.shape[1])
        ones = words._replace(data=self._filled(words.data.shape, words.data.dtype, 1.0))
        found = []
        for swept in (words, ones):
            sums = self._products(swept, shares, n_words, None)
            out = self.memory.empty((shares.shape[1], n_words), shares.dtype)
            self.verbs.turn(sums.array, out.array)
            found.append(self._back(out, class_given_doc))
        return found[0], found[1]

    def halves(
        self, points: Numbers, groups: Sequence[Ints], seeds: Sequence[int], fewest: float
    ) -> list[tuple[float, Any]]:
        """See ``Engine.halves``."""
        return cuda_growth.halves(self.verbs, self.threads, self._here(points), groups, seeds, fewest)

    def leading_factors(self, matrix: Csr, number: int, seed: int) -> tuple[Floats, Floats, Floats] | None:
        """See ``Engine.leading_factors``."""
        if matrix.shape[0] < matrix.shape[1] or matrix.shape[1] < number + cuda_growth.OVERSAMPLES:
            return None
        return cuda_growth.leading_factors(self, matrix, number, seed)

    # ---- whole arrays

    def power(self, array: Numbers, exponent: float) -> Any:
        """See ``Engine.power``."""
        if exponent == 1.0:
            return array
        here = self._here(array)
        out = self.memory.empty(here.shape, here.dtype)
        self.verbs.power(here.array, exponent, out.array)
        return self._back(out, array)

    def logarithms(self, array: Numbers) -> Any:
        """See ``Engine.logarithms``."""
        here = self._here(array)
        out = self.memory.empty(here.shape, here.dtype)
        self.verbs.logarithms(here.array, out.array)
        return self._back(out, array)

    def posteriors(self, scores: Numbers, prior: Floats, inverse_temperature: float) -> tuple[Any, float]:
        """See ``Engine.posteriors``."""
        here, log_prior = self._here(scores), self.memory.put(prior, np.float64)
        total = self.verbs.posteriors(here.array, log_prior.array, inverse_temperature)
        return self._changed(scores, here), total

    def _changed(self, array: Numbers, here: DeviceArray) -> Any:
        """An array that was changed in place: if it is the host's, by way of a copy."""
        if not isinstance(array, DeviceArray):
            self.parking.overwrite(array, here)
        return array

    def normalise_rows(self, counts: Numbers, smoothing: float) -> Any:
        """See ``Engine.normalise_rows``."""
        here = self._here(counts)
        self.verbs.normalise_rows(here.array, smoothing)
        return self._changed(counts, here)

    def normalise_columns(self, counts: Numbers, smoothing: float) -> Any:
        """See ``Engine.normalise_columns``."""
        here = self._here(counts)
        total = self.column_totals(here) + smoothing * len(here)
        empty = total <= SMALLEST_MIXTURE
        scale = self.memory.put(1.0 / np.where(empty, 1.0, total), here.dtype)
        self.verbs.scale_columns(here.array, smoothing, scale.array)
        if empty.any():
            self.verbs.fill_columns(here.array, self.memory.put(empty).array, 1.0 / len(here))
        return self._changed(counts, here)

    def column_totals(self, array: Numbers) -> Any:
        """See ``Engine.column_totals``."""
        here = self._here(array)
        sums = self.memory.empty((here.shape[1],), np.float64)
        self.verbs.column_sums(here.array, sums.array)
        return sums.numpy()

    def add_outer(self, counts: Numbers, rows: Floats, columns: Floats) -> Any:
        """See ``Engine.add_outer``."""
        here = self._here(counts)
        left, right = self.memory.put(rows, here.dtype), self.memory.put(columns, here.dtype)
        self.verbs.add_outer(here.array, left.array, right.array)
        return self._changed(counts, here)

    def weighted_logs(self, array: Numbers, rows: Floats, columns: Floats) -> float:
        """See ``Engine.weighted_logs``."""
        here, weights = self._here(array), self.memory.put(columns, np.float64)
        wanted = np.flatnonzero(rows)
        return float(rows[wanted] @ self.verbs.row_logs(here.array, weights.array, TINY)[wanted])

    def add_at(self, counts: Numbers, rows: Ints, columns: Ints, values: Floats) -> Any:
        """See ``Engine.add_at``; the places are few, and a row at a time is added."""
        n_rows, n_columns = counts.shape
        for row in np.unique(rows):
            added = np.zeros(n_columns)
            np.add.at(added, columns[rows == row], values[rows == row])
            counts = self.add_outer(counts, np.eye(1, n_rows, int(row)).ravel(), added)
        return counts

    def logs_at(self, array: Numbers, rows: Ints, columns: Ints, weights: Floats) -> float:
        """See ``Engine.logs_at``."""
        (n_rows, n_columns), total = array.shape, 0.0
        for row in np.unique(rows):
            wanted = np.zeros(n_columns)
            np.add.at(wanted, columns[rows == row], weights[rows == row])
            total += self.weighted_logs(array, np.eye(1, n_rows, int(row)).ravel(), wanted)
        return total

    def sum_of_logs(self, array: Numbers) -> float:
        """See ``Engine.sum_of_logs``."""
        here = self._here(array)
        return self.verbs.sum_of_logs(here.array)

    def look_ahead(self, old: Numbers, new: Numbers, stride: float) -> Any:
        """See ``Engine.look_ahead``."""
        before, after = self._here(old), self._here(new)
        out = self.memory.empty(after.shape, after.dtype)
        self.verbs.look_ahead(before.array, after.array, stride, out.array)
        return self._back(out, new)


@lru_cache(maxsize=1)
def _there(kind: type[CudaEngine], atomic: bool) -> CudaEngine:
    """The engine of a process that work travels to: one, so that its memory is used again and again."""
    return kind.start(Threads(1), atomic=atomic)
