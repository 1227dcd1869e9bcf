"""Growth from blocks in files: on the workers of a cluster, or in this process within a memory limit.

The blocks depend on the number of documents only. So a tree does not depend on the number of workers or on the limit.
One block gives the same tree as growth in memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from topiarist.arrays import Csr, Ints
from topiarist.collection.grow.recipe import GUIDED, Recipe
from topiarist.collection.search.index_part import ClusterIndexer
from topiarist.counts.scratch import iterate_selected_rows
from topiarist.counts.workers import Jobs
from topiarist.errors import UsageError
from topiarist.estimators.common.stored_counts import choose_block_size
from topiarist.estimators.tree.growth_sample import MAX_GROWTH_DOCUMENTS
from topiarist.estimators.tree_models import TREE_MODELS, join_names
from topiarist.execution import BlockStore, DaskExecutor, InProcess
from topiarist.execution.dask import Cluster
from topiarist.plurals import count_noun

SMALLEST_BLOCK = 1 << 14  # documents, so that the work for each word of a block is a small part of a pass
SCRATCH = "blocks-"  # prefix of the folder of blocks while a tree grows


KINDS = [name for name, kind in TREE_MODELS.items() if kind.blocks]


def _possible(recipe: Recipe) -> bool:
    """Return whether a tree of this recipe can grow from blocks."""
    return recipe.model in KINDS and recipe.hierarchy is None and not recipe.online and recipe.growth == GUIDED


@dataclass(frozen=True)
class BlockGrowth:
    """Place where blocks are computed: the workers of ``client``, which see the collection's folder, or this process.

    ``memory``: bytes that growth may add to this process; None for no limit. ``folder``: folder of the blocks while a
    tree grows; None for the folder of temporary files.
    """

    client: Any = None
    memory: int | None = None
    folder: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the part that can change the tree, as plain JSON data."""
        return {"memory": self.memory}

    @classmethod
    def for_many(cls, recipe: Recipe, vectors: object, n_docs: int) -> BlockGrowth | None:
        """Return blocks for more documents than a tree grows from in memory, if the recipe allows blocks; else None."""
        return cls() if n_docs > MAX_GROWTH_DOCUMENTS and vectors is None and _possible(recipe) else None

    def check(self, recipe: Recipe, vectors: object) -> None:
        """Raise UsageError for a recipe that only grows in memory."""
        if not _possible(recipe):
            raise UsageError(
                f"a tree in blocks requires the model {join_names(KINDS)}, without online, annealed or labelled growth",
                hint="Grow it without a cluster (--cluster) and without a limit of memory (--memory).",
            )
        if vectors is not None:
            raise UsageError(
                "vectors cannot be fitted in blocks",
                hint="Grow it without a cluster (--cluster) and without a limit of memory (--memory).",
            )
        if self.client is not None and self.memory is not None:
            raise UsageError(
                "a limit of memory cannot be used with a cluster",
                hint="Limit the memory of the workers when you start them.",
            )

    def jobs(self, n_threads: int | None) -> Jobs:
        """Return the cluster or the number of processes that count texts."""
        return n_threads if self.client is None else Cluster.from_client(self.client)

    def cluster_indexer(self, counts: Path) -> ClusterIndexer | None:
        """Return the cluster indexer for a folder of counts; None to index locally."""
        return None if self.client is None else ClusterIndexer(Cluster.from_client(self.client), counts)

    def describe(self, store: BlockStore) -> str:
        """Return the number of blocks and the place of the growth in words."""
        blocks = f"{count_noun(len(store.manifest.blocks), 'block')} of documents"
        if self.client is None:
            limit = "" if self.memory is None else f" within {self.memory / 1e6:,.0f} MB"
            return f"{blocks}, one after the other{limit}"
        return f"{blocks} on {count_noun(len(self.client.nthreads()), 'worker')}"

    def executor(self, store: BlockStore) -> Any:
        """Return the executor; its temporary files are beside the store."""
        if self.client is None:
            return InProcess(self.memory, store.folder.parent)
        return DaskExecutor(self.client, scratch=store.folder.parent)

    @contextmanager
    def blocks(self, counts: Csr, rows: Ints | None = None) -> Iterator[BlockStore]:
        """Write counts of all documents, or of ascending rows, to blocks in a folder that is deleted afterwards.

        Folders of killed grows are deleted.
        """
        for left in self.folder.glob(f"{SCRATCH}*") if self.folder is not None else ():
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(mkdtemp(prefix=SCRATCH, dir=self.folder))
        try:
            n_docs = counts.shape[0] if rows is None else len(rows)
            size, dtype = choose_block_size(n_docs, SMALLEST_BLOCK), counts.data.dtype.name
            yield BlockStore.write(folder / "counts", iterate_selected_rows(counts, rows), block_size=size, dtype=dtype)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
