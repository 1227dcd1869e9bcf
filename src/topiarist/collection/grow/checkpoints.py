"""Checkpoints of a growing tree, stored as parts of an unfinished collection."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from topiarist.collection.grow.made_with import WAY
from topiarist.errors import TopiaristError
from topiarist.estimators import registry
from topiarist.progress import ProgressReporter
from topiarist.storage import edit_log
from topiarist.storage.database import Database
from topiarist.storage.encoding import Reader, Writer
from topiarist.storage.generation import PART, Generation, new_part, open_part
from topiarist.storage.tensors import map_tensors, write_tensors
from topiarist.trees.growth.loop import Checkpoint

KIND = "checkpoint"
INTERVAL = 60.0  # seconds between two checkpoints
BODY, ARRAYS = "checkpoint.json", "arrays.safetensors"
WAY_FIELD, CHECKPOINT_FIELD = "way of growing", "checkpoint"  # names in the body


class OtherWayError(ValueError):
    """A checkpoint of a version with another growth: its rows may belong to other documents."""


class CheckpointJournal:
    """Growth journal that reports the tree so far and stores a checkpoint once per ``interval`` seconds.

    A new checkpoint replaces the older ones.
    """

    def __init__(self, generation: Generation, reporter: ProgressReporter, interval: float = INTERVAL) -> None:
        self.generation, self.reporter, self.interval = generation, reporter, interval
        self._last = time.monotonic()

    def recall(self) -> Checkpoint | None:
        """Return the newest checkpoint and report it; None if it cannot be read or has another version."""
        try:
            names = checkpoint_names(self.generation.database)
            checkpoint = read_checkpoint(open_part(self.generation, names[-1])) if names else None
        except OtherWayError:
            self.reporter.add_note("The checkpoint belongs to another version. Growth starts from the root")
            return None
        except (TopiaristError, ValueError, KeyError, TypeError, AttributeError, OSError):
            return None
        if checkpoint is not None:
            self.reporter.add_note(f"Resuming a tree of {checkpoint.record.n_leaves[-1]:,} topics")
        return checkpoint

    def note(self, checkpoint: Callable[[], Checkpoint]) -> None:
        """Report the tree, and store a checkpoint if the last one is old."""
        current = checkpoint()  # only references existing arrays
        self.reporter.show_growth(current.record)
        if time.monotonic() - self._last < self.interval:
            return
        database = self.generation.database
        old = checkpoint_names(database)
        with new_part(self.generation, KIND) as part:
            write_checkpoint(part.folder, current)
        edit_log.keep(database, [part.part])
        edit_log.drop(database, old)
        self._last = time.monotonic()


def checkpoint_names(database: Database) -> list[str]:
    """Return the parts with checkpoints, the oldest first."""
    names = [name for name in edit_log.parts(database) if name.startswith(f"{KIND}-")]
    return sorted(names, key=lambda name: int(PART.fullmatch(name)[2]))  # type: ignore[index]


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint as JSON and arrays."""
    writer = Writer(registry)
    body: Any = {WAY_FIELD: WAY, CHECKPOINT_FIELD: writer.value(checkpoint, KIND)}
    write_tensors(folder / ARRAYS, writer.arrays)
    (folder / BODY).write_text(json.dumps(body, allow_nan=False))


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return the checkpoint of a folder."""
    body = json.loads((folder / BODY).read_text())
    if body[WAY_FIELD] != WAY:
        raise OtherWayError(f"a checkpoint of the way {body[WAY_FIELD]}")
    checkpoint = Reader(map_tensors(folder / ARRAYS), registry).value(body[CHECKPOINT_FIELD])
    if not isinstance(checkpoint, Checkpoint):
        raise ValueError(f"expected a checkpoint, got {type(checkpoint).__name__}")
    return checkpoint
