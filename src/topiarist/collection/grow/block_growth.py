"""Growing from blocks in files: on the workers of a cluster, or in this process within an allowance of memory.

How documents are cut into blocks depends on their number alone. So a collection is the same on any number of workers
and within any allowance; and as long as its documents are one block, the same as if it had been grown in memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from topiarist.arrays import Csr, Ints
from topiarist.collection.find.index_part import Elsewhere
from topiarist.collection.grow.recipe import Recipe
from topiarist.counts.room import picked_runs
from topiarist.counts.workers import Jobs
from topiarist.errors import UsageError
from topiarist.estimators.common.stored_counts import block_size
from topiarist.estimators.tree.growth_sample import MOST_GROWN
from topiarist.estimators.tree_models import TREE_MODELS, listed
from topiarist.scale import BlockStore, DaskExecutor, InProcess
from topiarist.scale.dask import Cluster

SMALLEST_BLOCK = 1 << 14  # documents: what is done for each word of a block is then a small part of a pass
SCRATCH = "blocks-"  # begins the name of the folder that blocks are in while a tree grows


KINDS = [name for name, kind in TREE_MODELS.items() if kind.blocks]


def _possible(recipe: Recipe) -> bool:
    """Whether a tree of this recipe can grow from blocks."""
    return recipe.model in KINDS and recipe.hierarchy is None and not recipe.online


@dataclass(frozen=True)
class InBlocks:
    """Who computes the blocks: the workers of ``client``, which see the folder of the collection; or this process.

    ``memory``: bytes that this process may take to grow, beyond what it holds already; None: no limit. ``folder``: what
    blocks are written in while a tree grows; None: where temporary files go.
    """

    client: Any = None
    memory: int | None = None
    folder: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """What of it decides about the tree, as plain JSON data: not who computes it, but how large it may become."""
        return {"memory": self.memory}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> InBlocks:
        """What ``to_dict`` has written, to be computed here."""
        memory = body["memory"]
        return cls(memory=None if memory is None else int(memory))

    @classmethod
    def of_many(cls, recipe: Recipe, vectors: object, n_docs: int) -> InBlocks | None:
        """Of so many documents that only some of them grow a tree all are in blocks, unless they cannot; else None."""
        return cls() if n_docs > MOST_GROWN and vectors is None and _possible(recipe) else None

    def check(self, recipe: Recipe, vectors: object) -> None:
        """Refuse, before anything is read, what only grows in memory."""
        if not _possible(recipe):
            raise UsageError(
                f"a tree grows from blocks in files by the model {listed(KINDS)}, and neither online nor by labels",
                hint="without --cluster and --memory",
            )
        if vectors is not None:
            raise UsageError("vectors are fitted in memory", hint="without --cluster and --memory")
        if self.client is not None and self.memory is not None:
            raise UsageError("memory is that of one process", hint="limit the memory of the workers where they start")

    def jobs(self, n_threads: int | None) -> Jobs:
        """Who works on chunks of texts: the workers of the cluster, or so many processes of this machine."""
        return n_threads if self.client is None else Cluster.of(self.client)

    def elsewhere(self, counts: Path) -> Elsewhere | None:
        """Who indexes the documents whose counts lie in a folder; None: this process."""
        return None if self.client is None else Elsewhere(Cluster.of(self.client), counts)

    def said(self, store: BlockStore) -> str:
        """Where it grows, in words."""
        number = len(store.manifest.blocks)
        blocks = f"{number:,} block{'' if number == 1 else 's'} of documents"
        if self.client is None:
            limit = "" if self.memory is None else f" within {self.memory / 1e6:,.0f} MB"
            return f"{blocks}, one after the other{limit}"
        workers = len(self.client.nthreads())
        return f"{blocks} on {workers:,} worker{'' if workers == 1 else 's'}"

    def executor(self, store: BlockStore) -> Any:
        """What computes them; what it writes on the way lies beside the store."""
        if self.client is None:
            return InProcess(self.memory, store.folder.parent)
        return DaskExecutor(self.client, scratch=store.folder.parent)

    @contextmanager
    def blocks(self, counts: Csr, rows: Ints | None = None) -> Iterator[BlockStore]:
        """The counts of all documents, or of some (rising) rows, in files, in a folder for as long as this lasts.

        A folder that was left by a grow that died goes.
        """
        for left in self.folder.glob(f"{SCRATCH}*") if self.folder is not None else ():
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(mkdtemp(prefix=SCRATCH, dir=self.folder))
        try:
            n_docs = counts.shape[0] if rows is None else len(rows)
            size, dtype = block_size(n_docs, SMALLEST_BLOCK), counts.data.dtype.name
            yield BlockStore.write(folder / "counts", picked_runs(counts, rows), block_size=size, dtype=dtype)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
