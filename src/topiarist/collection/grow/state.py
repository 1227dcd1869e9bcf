"""State that the stages of a grow share: the recipe, the machine and the unfinished collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from topiarist.collection.grow.block_growth import BlockGrowth
from topiarist.collection.grow.made_with import IN_BLOCKS, describe_environment
from topiarist.collection.grow.recipe import Recipe
from topiarist.counts.scratch import ScratchSpace
from topiarist.counts.workers import Jobs
from topiarist.progress import ProgressReporter
from topiarist.storage.collection_folder import Growing
from topiarist.storage.database import Database
from topiarist.storage.generation import Generation


@dataclass(frozen=True, kw_only=True)
class GrowOptions:
    """Machine, reporter and embeddings of a grow.

    ``take_removed`` reads documents again that users removed. ``vectors`` is a source of embeddings (see
    ``counts.embeddings.vector_sources.VectorSource``). Without ``blocks`` the tree grows in memory.
    """

    n_threads: int | None = None
    device: str = "cpu"
    verbose: bool = False
    take_removed: bool = False
    reporter: ProgressReporter = field(default_factory=ProgressReporter)
    vectors: Any = None
    blocks: BlockGrowth | None = None

    @property
    def environment(self) -> dict[str, Any]:
        """Environment outside the recipe that can change the last bits of a tree."""
        return describe_environment(self.device) | {IN_BLOCKS: None if self.blocks is None else self.blocks.to_dict()}

    @property
    def jobs(self) -> Jobs:
        """Processes or cluster that count texts."""
        return self.n_threads if self.blocks is None else self.blocks.jobs(self.n_threads)


@dataclass(frozen=True)
class GrowState:
    """A grow in progress: what a stage finishes is in the database and the parts of ``growing``.

    ``settings`` are stored with the collection as soon as everything is counted.
    """

    recipe: Recipe
    options: GrowOptions
    growing: Growing
    settings: Mapping[str, Any]

    @property
    def generation(self) -> Generation:
        """Generation that is not finished."""
        return self.growing.generation

    @property
    def database(self) -> Database:
        """Database of the unfinished generation."""
        return self.growing.generation.database

    @property
    def scratch(self) -> ScratchSpace:
        """Folder of large temporary arrays."""
        return ScratchSpace(self.growing.generation.folder)
