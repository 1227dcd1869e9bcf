"""What a grow tells on its way, and the checkpoints of its tree, kept as parts of an unfinished collection."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from topiarist.collection.grow.made_with import WAY
from topiarist.counts.corpus import Corpus
from topiarist.errors import TopiaristError
from topiarist.estimators import registry
from topiarist.hierarchy.growth.loop import Checkpoint, Record
from topiarist.store import edit_log
from topiarist.store.encoding import Reader, Writer
from topiarist.store.generation import PART, Generation, new_part, open_part
from topiarist.store.tensors import map_tensors, write_tensors

KIND = "checkpoint"
EVERY = 60.0  # seconds
BODY, ARRAYS = "checkpoint.json", "arrays.safetensors"
GROWN, FOUND = "way of growing", "checkpoint"  # in the body; earlier versions wrote the second alone


class OtherWayError(ValueError):
    """A checkpoint of a version that grows otherwise: its rows may be those of other documents."""


class Teller:
    """What a grow says on the way; nothing, unless somebody listens."""

    def phase(self, text: str) -> None:
        """A new phase begins."""

    def reading(self, number: int) -> None:
        """So many documents have been read."""

    def said(self, text: str) -> None:
        """A finding of the phase."""

    def doing(self, text: str) -> None:
        """What is done now in the phase."""

    def counted(self, corpus: Corpus, *, in_blocks: bool = False) -> None:
        """All is counted, nothing has grown yet; whoever sees that it cannot grow here may raise.

        ``in_blocks``: it will grow from files, and not from counts in memory.
        """

    def grown(self, record: Record) -> None:
        """The tree has grown a little: what was seen so far."""


class PartJournal:
    """Tells how far a tree has grown, and keeps a checkpoint at least so many seconds after the last.

    Older checkpoints are let go.
    """

    def __init__(self, generation: Generation, tell: Teller, every: float = EVERY) -> None:
        self.generation, self.tell, self.every = generation, tell, every
        self._last = time.monotonic()

    def recall(self) -> Checkpoint | None:
        """The newest checkpoint; one that cannot be read, or that a version which grows otherwise made, is none."""
        try:
            names = self._names()
            found = read_checkpoint(open_part(self.generation, names[-1])) if names else None
        except OtherWayError:
            self.tell.said("The tree that another version had begun is begun anew")
            return None
        except (TopiaristError, ValueError, KeyError, TypeError, AttributeError, OSError):
            return None
        if found is not None:
            self.tell.said(f"Taking up a tree of {found.record.n_leaves[-1]:,} topics")
        return found

    def note(self, checkpoint: Callable[[], Checkpoint]) -> None:
        """See ``growth.Journal``."""
        made = checkpoint()  # only names what is there already
        self.tell.grown(made.record)
        if time.monotonic() - self._last < self.every:
            return
        old = self._names()
        with new_part(self.generation, KIND) as part:
            write_checkpoint(part.folder, made)
        edit_log.keep(self.generation.database, [part.part])
        edit_log.drop(self.generation.database, old)
        self._last = time.monotonic()

    def _names(self) -> list[str]:
        names = [name for name in edit_log.parts(self.generation.database) if name.startswith(f"{KIND}-")]
        return sorted(names, key=lambda name: int(PART.fullmatch(name)[2]))  # type: ignore[index]


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """A checkpoint as JSON and arrays."""
    writer = Writer(registry)
    body: Any = {GROWN: WAY, FOUND: writer.value(checkpoint, KIND)}
    write_tensors(folder / ARRAYS, writer.arrays)
    (folder / BODY).write_text(json.dumps(body, allow_nan=False))


def read_checkpoint(folder: Path) -> Checkpoint:
    """What ``write_checkpoint`` has written."""
    body = json.loads((folder / BODY).read_text())
    if body.get(GROWN) != WAY:
        raise OtherWayError(f"a checkpoint of the way {body.get(GROWN)}")
    found = Reader(map_tensors(folder / ARRAYS), registry).value(body[FOUND])
    if not isinstance(found, Checkpoint):
        raise ValueError(f"expected a checkpoint, got {type(found).__name__}")
    return found
