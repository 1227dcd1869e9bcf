"""CUDA engine: the methods of ``Engine`` for arrays that stay on a device during a fit.

``to_device`` and ``to_host`` move parameters at the start and at the end. A method also accepts NumPy arrays: it copies
them to the device and returns its result where the source array is. Every fit that works on the host works here, but
copies make it slower.

Sums are added in an order that depends on the counts alone, unless ``atomic`` trades this for speed. Collections that
do not fit into ``device_memory`` bytes (None: the free bytes) are cut into blocks that visit the device in turn, see
``cuda_counts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np

from topiarist.arrays import TINY, Csr, DTypeLike, Floats, Ints
from topiarist.execution.threads import Threads
from topiarist.kernels import SMALLEST_MIXTURE, Folding, Paths
from topiarist.kernels.cuda.memory import DeviceArray, Memory, count_free_bytes, create_stream
from topiarist.kernels.cuda.verbs import DeviceKernels
from topiarist.kernels.shard import CountsView, Shard
from topiarist.models.em import State
from topiarist.models.engine import cuda_counts, cuda_growth
from topiarist.models.engine.cuda_counts import (
    CudaCountsView,
    CudaShard,
    SegmentedCounts,
    get_array,
    segment_rows,
    segment_words,
)
from topiarist.models.engine.host import Engine

Numbers: TypeAlias = Floats | DeviceArray  # on the host or on the device


@dataclass(frozen=True)
class CudaEngine(Engine):
    """Engine on a device, created by ``CudaEngine.start``; ``threads`` do the work of the host."""

    device_kernels: DeviceKernels
    pinned_pool: cuda_counts.PinnedMemoryPool
    atomic: bool = False
    device_paths: list[Any] = field(
        default_factory=list, compare=False
    )  # the last paths, and their arrays on the device

    @classmethod
    def start(cls, threads: Threads, *, atomic: bool = False, device_memory: int | None = None) -> Self:
        """Create an engine with its own stream and memory."""
        memory = Memory(create_stream(), count_free_bytes() if device_memory is None else device_memory)
        device_kernels = DeviceKernels(memory)
        return cls(device_kernels.record(), threads, device_kernels, cuda_counts.PinnedMemoryPool(memory), atomic)

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickle as the engine of the other process, which uses its own device."""
        return _get_worker_engine, (type(self), self.atomic)

    @property
    def memory(self) -> Memory:
        """Memory of the device."""
        return self.device_kernels.memory

    @property
    def executor(self) -> cuda_counts.StreamingExecutor:
        """Executor that computes one block after another and fetches the next pinned block meanwhile."""
        return cuda_counts.StreamingExecutor(self.pinned_pool)

    # ---- transfers

    def view_counts(self, counts: Csr, dtype: DTypeLike) -> CudaCountsView:
        """See ``Engine.view_counts``."""
        side = CountsView.from_matrix(counts, dtype)
        return CudaCountsView(side.indptr, side.indices, side.data, side.cuts, segment_rows(self.device_kernels, side))

    def view_blocks(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Iterator[CudaCountsView]:
        """See ``Engine.view_blocks``: the blocks visit the device one after another."""
        cuts = self._cut_blocks(counts, dtype, n_components)
        if len(cuts) == 2:
            yield self.view_counts(counts, dtype)
            return
        for start, stop in pairwise(cuts):
            yield self.view_counts(counts[start:stop], dtype)

    def _cut_blocks(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[int]:
        return cuda_counts.cut_blocks(counts, np.dtype(dtype).itemsize, n_components, self.memory.limit)

    def shard(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Any:
        """See ``Engine.shard``."""
        rows, n_words = self.view_counts(counts, dtype), int(counts.shape[1])
        words = segment_words(self.device_kernels, rows.segmented, n_words, n_components)
        totals = self._multiply(words, self._fill((rows.n_rows, 1), rows.data.dtype, 1.0), n_words, np.float64)
        return CudaShard(rows, words, totals.numpy()[:, 0], self.uniform_rows)

    def make_shards(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[Any]:
        """See ``Engine.make_shards``: one block if the device can hold it, or pinned blocks of half its size."""
        cuts = self._cut_blocks(counts, dtype, n_components)
        if len(cuts) == 2:
            return [self.shard(counts, dtype, n_components)]
        blocks = (counts[start:stop] for start, stop in pairwise(cuts))
        return [self.pinned_pool.pin_shard(self.shard(block, dtype, n_components)) for block in blocks]

    def fits_device(self, counts: Csr, dtype: DTypeLike, n_classes: int) -> bool:
        """See ``Engine.fits_device``: whether the device has memory for the counts and a few trees."""
        return len(self._cut_blocks(counts, dtype, cuda_growth.KEPT_TREES * n_classes)) == 2

    def to_device(self, value: Any) -> Any:
        """See ``Engine.to_device``; pinned rows stay pinned."""
        if isinstance(value, np.ndarray) and not isinstance(value, cuda_counts.PinnedRows):
            return self.memory.put(value)
        if isinstance(value, State):
            return State(self.to_device(value.shared), tuple(map(self.to_device, value.local)))
        return value.move_arrays(self.to_device) if hasattr(value, "move_arrays") else value

    def to_host(self, value: Any) -> Any:
        """See ``Engine.to_host``."""
        if isinstance(value, DeviceArray):
            return value.numpy()
        if isinstance(value, cuda_counts.PinnedRows):
            return self.pinned_pool.copy(value)
        if isinstance(value, State):
            return State(self.to_host(value.shared), tuple(map(self.to_host, value.local)))
        return value.move_arrays(self.to_host) if hasattr(value, "move_arrays") else value

    def to_device_of(self, array: Numbers, value: Floats) -> Any:
        """See ``Engine.to_device_of``."""
        return self.memory.put(value) if isinstance(array, DeviceArray) else value

    def uniform_rows(self, n_rows: int, n_components: int, dtype: DTypeLike) -> Any:
        """See ``Engine.uniform_rows``."""
        return self._fill((n_rows, n_components), dtype, 1.0 / n_components)

    def _fill(self, shape: tuple[int, ...], dtype: DTypeLike, value: float) -> DeviceArray:
        out = self.memory.empty(shape, dtype)
        self.device_kernels.fill(out.array, value)
        return out

    def _to_device_array(self, array: Numbers) -> DeviceArray:
        """Return the array on the device; copy it from the host if necessary."""
        return array if isinstance(array, DeviceArray) else self.memory.put(array)

    def _return_like(self, out: DeviceArray, source: Numbers) -> Any:
        """Return a result on the host or the device, like its source."""
        if isinstance(source, cuda_counts.PinnedRows):
            return self.pinned_pool.pin(out)
        return out if isinstance(source, DeviceArray) else out.numpy()

    def _get_rows(self, side: CountsView) -> SegmentedCounts:
        order = side.segmented if isinstance(side, CudaCountsView) else segment_rows(self.device_kernels, side)
        return order.move_arrays(self._to_device_array)

    def _get_words(self, shard: Shard | CudaShard, n_components: int) -> SegmentedCounts:
        return self._make_cuda_shard(shard, n_components).words.move_arrays(self._to_device_array)

    def _make_cuda_shard(self, shard: Shard | CudaShard, n_components: int) -> CudaShard:
        """Return a shard in device layout; a host shard is copied, and freed after its sweep."""
        if isinstance(shard, CudaShard):
            return shard
        side, n_words = shard.rows, shard.shape[1]
        order = segment_rows(self.device_kernels, side)
        rows = CudaCountsView(side.indptr, side.indices, side.data, side.cuts, order)
        return CudaShard(
            rows,
            segment_words(self.device_kernels, order, n_words, n_components),
            range(n_words),
            self.uniform_rows,
        )

    def _multiply(
        self, order: SegmentedCounts, other: DeviceArray, n_rows: int, dtype: DTypeLike | None
    ) -> DeviceArray:
        """Return the sum of counts times rows of the other factor, for each row of the counts."""
        out = self.memory.empty((n_rows, other.shape[1]), dtype or other.dtype)
        _, indices, data, cut = order.move_arrays(get_array)
        self.device_kernels.row_products(cut, indices, data, other.array, out.array)
        return out

    # ---- sweeps

    def expected_counts(self, shard: Shard | CudaShard, documents: Numbers, words: Numbers) -> tuple[Any, Any, float]:
        """See ``Engine.expected_counts``; ``atomic`` uses one sweep instead of two."""
        shard = shard if self.atomic else self._make_cuda_shard(shard, words.shape[1])
        if not self.atomic:
            doc_count, log_likelihood = self.document_counts(shard, documents, words)
            return doc_count, self.word_counts(shard, words, documents), log_likelihood
        row_factor, column_factor = self._to_device_array(documents), self._to_device_array(words)
        sums = self.memory.empty(column_factor.shape, column_factor.dtype)
        out, log_likelihood = self._document_counts(shard, row_factor, column_factor, sums)
        return self._return_like(out, documents), self._return_like(sums, words), log_likelihood

    def document_counts(self, shard: Shard | CudaShard, documents: Numbers, words: Numbers) -> tuple[Any, float]:
        """See ``Engine.document_counts``."""
        out, log_likelihood = self._document_counts(
            shard, self._to_device_array(documents), self._to_device_array(words), None
        )
        return self._return_like(out, documents), log_likelihood

    def _document_counts(
        self, shard: Shard | CudaShard, row_factor: DeviceArray, column_factor: DeviceArray, sums: DeviceArray | None
    ) -> tuple[DeviceArray, float]:
        order = self._get_rows(shard.rows)
        out, mixture = (
            self.memory.empty(row_factor.shape, row_factor.dtype),
            self.memory.empty(order.data.shape, row_factor.dtype),
        )
        _, indices, data, cut = order.move_arrays(get_array)
        arguments = (cut, indices, data, row_factor.array, column_factor.array, out.array, mixture.array)
        if sums is None:
            self.device_kernels.document_counts(*arguments)
        else:
            self.device_kernels.scattered_counts(*arguments, sums.array)
        return out, self.device_kernels.weighted_logs(data, mixture.array)

    def word_counts(self, shard: Shard | CudaShard, words: Numbers, documents: Numbers) -> Any:
        """See ``Engine.word_counts``."""
        row_factor, column_factor, order = (
            self._to_device_array(words),
            self._to_device_array(documents),
            self._get_words(shard, words.shape[1]),
        )
        out = self.memory.empty(row_factor.shape, row_factor.dtype)
        _, indices, data, cut = order.move_arrays(get_array)
        self.device_kernels.word_counts(cut, None, indices, data, row_factor.array, column_factor.array, out.array)
        return self._return_like(out, words)

    def log_likelihood(self, side: CountsView, row_factor: Numbers, column_factor: Numbers) -> float:
        """See ``Engine.log_likelihood``."""
        device_rows, device_columns, order = (
            self._to_device_array(row_factor),
            self._to_device_array(column_factor),
            self._get_rows(side),
        )
        mixture = self.memory.empty(order.data.shape, device_rows.dtype)
        _, indices, data, cut = order.move_arrays(get_array)
        self.device_kernels.mixtures(cut, indices, device_rows.array, device_columns.array, mixture.array)
        return self.device_kernels.weighted_logs(data, mixture.array)

    def log_likelihoods(self, side: CountsView, row_factor: Numbers, column_factor: Numbers) -> Any:
        """See ``Engine.log_likelihoods``."""
        device_rows, device_columns, order = (
            self._to_device_array(row_factor),
            self._to_device_array(column_factor),
            self._get_rows(side),
        )
        mixture = self.memory.empty(order.data.shape, device_rows.dtype)
        out = self.memory.empty((side.n_rows,), np.float64)
        indptr, indices, data, cut = order.move_arrays(get_array)
        self.device_kernels.mixtures(cut, indices, device_rows.array, device_columns.array, mixture.array)
        self.device_kernels.log_sums(indptr, data, mixture.array, out.array)
        return out.numpy()

    def fold_in(self, side: CountsView, row_factor: Numbers, column_factor: Numbers, folding: Folding) -> Any:
        """See ``Engine.fold_in``."""
        device_columns, order = self._to_device_array(column_factor), self._get_rows(side)
        out = self.memory.copy(row_factor) if isinstance(row_factor, DeviceArray) else self.memory.put(row_factor)
        indptr, indices, data, _ = order.move_arrays(get_array)
        self.device_kernels.fold_in(indptr, indices, data, out.array, device_columns.array, folding)
        return self._return_like(out, row_factor)

    def row_products(self, side: CountsView, other: Numbers, dtype: DTypeLike | None = None) -> Any:
        """See ``Engine.row_products``."""
        return self._return_like(
            self._multiply(self._get_rows(side), self._to_device_array(other), side.n_rows, dtype), other
        )

    def class_words(self, posterior: Numbers, *shards: Shard | CudaShard) -> Iterator[Any]:
        """See ``Engine.class_words``: the device reads dense rows."""
        yield from (self.word_products(shard, posterior) for shard in shards)

    def word_products(self, shard: Shard | CudaShard, other: Numbers, dtype: DTypeLike | None = None) -> Any:
        """See ``Engine.word_products``."""
        return self._return_like(
            self._multiply(self._get_words(shard, other.shape[1]), self._to_device_array(other), shard.shape[1], dtype),
            other,
        )

    # ---- paths of a tree

    def sum_along_paths(self, node_words: Numbers, paths: Paths) -> Any:
        """See ``Engine.sum_along_paths``."""
        device_rows = self._to_device_array(node_words)
        out = self.memory.empty((device_rows.shape[1], len(paths.ends) - 1), device_rows.dtype)
        self.device_kernels.sum_along_paths(device_rows.array, self._get_device_paths(paths), 0, out.array)
        return self._return_like(out, node_words)

    def _get_device_paths(self, paths: Paths) -> Paths:
        """Return the paths on the device; those of the last call are reused."""
        if not self.device_paths or self.device_paths[0] is not paths:
            self.device_paths[:] = paths, [self._to_device_array(part) for part in paths]
        return Paths(*(part.array for part in self.device_paths[1]))

    def distribute_along_paths(
        self, node_words: Numbers, words: Numbers, counts: Numbers, paths: Paths
    ) -> tuple[Any, Any]:
        """See ``Engine.distribute_along_paths``; results for paths are on the host."""
        out = self.memory.empty(node_words.shape, node_words.dtype)
        path_counts = self._distribute(node_words, words, counts, paths, out)
        return self._return_like(out, node_words), path_counts

    def path_counts(self, node_words: Numbers, words: Numbers, counts: Numbers, paths: Paths) -> Any:
        """See ``Engine.path_counts``."""
        return self._distribute(
            node_words, words, counts, paths, self.memory.empty((0, node_words.shape[1]), node_words.dtype)
        )

    def _distribute(self, node_words: Numbers, words: Numbers, counts: Numbers, paths: Paths, out: DeviceArray) -> Any:
        device_nodes, device_words, device_counts = map(self._to_device_array, (node_words, words, counts))
        sums = self.memory.empty((len(paths.classes),), np.float64)
        self.device_kernels.distribute_along_paths(
            device_nodes.array,
            device_words.array,
            device_counts.array,
            self._get_device_paths(paths),
            0,
            out.array,
            sums.array,
        )
        total = np.zeros((counts.shape[1], len(node_words)))
        total[paths.classes, np.repeat(np.arange(len(node_words)), np.diff(paths.node_ends))] = sums.numpy()
        return total

    # ---- growth

    def group_words(
        self, shard: Shard | CudaShard, groups: Sequence[Ints], collection: Floats, prior_tokens: float
    ) -> Any:
        """See ``Engine.group_words``: the result is on the device."""
        dtype, n_groups = shard.rows.data.dtype, len(groups)
        members = cuda_growth.make_memberships(self.device_kernels, shard.rows.n_rows, groups, dtype)
        counts = self._multiply(self._get_words(shard, members.shape[1]), members, len(collection), None)
        out = self.memory.empty((n_groups, len(collection)), dtype)
        self.device_kernels.transpose_table(counts.array, out.array)
        return self.normalise_rows(self.add_outer(out, np.full(n_groups, prior_tokens), collection), 0.0)

    def class_tables(self, shard: Shard | CudaShard, class_given_doc: Numbers) -> tuple[Any, Any]:
        """See ``Engine.class_tables``: the result is where the shares are."""
        shares, n_words = self._to_device_array(class_given_doc), shard.shape[1]
        words = self._get_words(shard, shares.shape[1])
        presence = words._replace(data=self._fill(words.data.shape, words.data.dtype, 1.0))
        tables = []
        for order in (words, presence):
            sums = self._multiply(order, shares, n_words, None)
            out = self.memory.empty((shares.shape[1], n_words), shares.dtype)
            self.device_kernels.transpose_table(sums.array, out.array)
            tables.append(self._return_like(out, class_given_doc))
        return tables[0], tables[1]

    def split_in_two(
        self, points: Numbers, groups: Sequence[Ints], seeds: Sequence[int], min_size: float
    ) -> list[tuple[float, Any]]:
        """See ``Engine.split_in_two``."""
        return cuda_growth.split_in_two(
            self.device_kernels, self.threads, self._to_device_array(points), groups, seeds, min_size
        )

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
        device_array = self._to_device_array(array)
        out = self.memory.empty(device_array.shape, device_array.dtype)
        self.device_kernels.power(device_array.array, exponent, out.array)
        return self._return_like(out, array)

    def logarithms(self, array: Numbers) -> Any:
        """See ``Engine.logarithms``."""
        device_array = self._to_device_array(array)
        out = self.memory.empty(device_array.shape, device_array.dtype)
        self.device_kernels.logarithms(device_array.array, out.array)
        return self._return_like(out, array)

    def posteriors(self, scores: Numbers, prior: Floats, inverse_temperature: float) -> tuple[Any, float]:
        """See ``Engine.posteriors``."""
        device_array, log_prior = self._to_device_array(scores), self.memory.put(prior, np.float64)
        total = self.device_kernels.posteriors(device_array.array, log_prior.array, inverse_temperature)
        return self._write_back(scores, device_array), total

    def _write_back(self, array: Numbers, device_array: DeviceArray) -> Any:
        """Return an array that was changed in place; a host array is overwritten."""
        if not isinstance(array, DeviceArray):
            self.pinned_pool.overwrite(array, device_array)
        return array

    def normalise_rows(self, counts: Numbers, smoothing: float) -> Any:
        """See ``Engine.normalise_rows``."""
        device_array = self._to_device_array(counts)
        self.device_kernels.normalise_rows(device_array.array, smoothing)
        return self._write_back(counts, device_array)

    def normalise_columns(self, counts: Numbers, smoothing: float) -> Any:
        """See ``Engine.normalise_columns``."""
        device_array = self._to_device_array(counts)
        total = self.column_totals(device_array) + smoothing * len(device_array)
        empty = total <= SMALLEST_MIXTURE
        scale = self.memory.put(1.0 / np.where(empty, 1.0, total), device_array.dtype)
        self.device_kernels.scale_columns(device_array.array, smoothing, scale.array)
        if empty.any():
            self.device_kernels.fill_columns(device_array.array, self.memory.put(empty).array, 1.0 / len(device_array))
        return self._write_back(counts, device_array)

    def column_totals(self, array: Numbers) -> Any:
        """See ``Engine.column_totals``."""
        device_array = self._to_device_array(array)
        sums = self.memory.empty((device_array.shape[1],), np.float64)
        self.device_kernels.column_sums(device_array.array, sums.array)
        return sums.numpy()

    def add_outer(self, counts: Numbers, rows: Floats, columns: Floats) -> Any:
        """See ``Engine.add_outer``."""
        device_array = self._to_device_array(counts)
        left, right = self.memory.put(rows, device_array.dtype), self.memory.put(columns, device_array.dtype)
        self.device_kernels.add_outer(device_array.array, left.array, right.array)
        return self._write_back(counts, device_array)

    def weighted_logs(self, array: Numbers, rows: Floats, columns: Floats) -> float:
        """See ``Engine.weighted_logs``."""
        device_array, weights = self._to_device_array(array), self.memory.put(columns, np.float64)
        row_numbers = np.flatnonzero(rows)
        return float(
            rows[row_numbers] @ self.device_kernels.row_logs(device_array.array, weights.array, TINY)[row_numbers]
        )

    def add_at(self, counts: Numbers, rows: Ints, columns: Ints, values: Floats) -> Any:
        """See ``Engine.add_at``; the places are few, so one row at a time is added."""
        n_rows, n_columns = counts.shape
        for row in np.unique(rows):
            row_values = np.zeros(n_columns)
            np.add.at(row_values, columns[rows == row], values[rows == row])
            counts = self.add_outer(counts, np.eye(1, n_rows, int(row)).ravel(), row_values)
        return counts

    def logs_at(self, array: Numbers, rows: Ints, columns: Ints, weights: Floats) -> float:
        """See ``Engine.logs_at``."""
        (n_rows, n_columns), total = array.shape, 0.0
        for row in np.unique(rows):
            row_numbers = np.zeros(n_columns)
            np.add.at(row_numbers, columns[rows == row], weights[rows == row])
            total += self.weighted_logs(array, np.eye(1, n_rows, int(row)).ravel(), row_numbers)
        return total

    def sum_of_logs(self, array: Numbers) -> float:
        """See ``Engine.sum_of_logs``."""
        device_array = self._to_device_array(array)
        return self.device_kernels.sum_of_logs(device_array.array)

    def extrapolate(self, old: Numbers, new: Numbers, stride: float) -> Any:
        """See ``Engine.extrapolate``."""
        device_old, device_new = self._to_device_array(old), self._to_device_array(new)
        out = self.memory.empty(device_new.shape, device_new.dtype)
        self.device_kernels.extrapolate(device_old.array, device_new.array, stride, out.array)
        return self._return_like(out, new)


@lru_cache(maxsize=1)
def _get_worker_engine(kind: type[CudaEngine], atomic: bool) -> CudaEngine:
    """Return the engine of a worker process; one for all tasks, so that its memory is reused."""
    return kind.start(Threads(1), atomic=atomic)
