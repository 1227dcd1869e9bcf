"""What a collection is at one moment: the shape of its tree and its parts on disk; and what it was before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from topiarist.collection.shape.shape import Shape
from topiarist.errors import DamagedError, UsageError, in_words
from topiarist.store import edit_log
from topiarist.store.collection_folder import Folder

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

COUNTS, SHARES, TREE, SEARCH, CATEGORIES = "counts", "shares", "tree", "search", "categories"
MINIMA = "minima"  # what tells copies of documents, in pieces as counts are; none in collections of version 0.1
VECTORS = "vectors"  # that documents came with, in pieces as counts are; none where they came without
GENERATION = "generation"  # what a step of the log leads away from, if not from a state of this one
FLAT = "flat"  # topics without a tree, for the index


@dataclass(frozen=True)
class State:
    """A state as the edit log keeps it.

    ``parts`` has the name of the part for each role: "tree" is the model with the description of its nodes, "search"
    the index by meaning, "categories" a model of given labels. Counts and shares come in pieces, "counts.0",
    "counts.1" and so on, one for each time that documents were added.
    """

    shape: Shape
    parts: Mapping[str, str]
    n_docs: int
    model: str  # what the tree was grown with: cam, hplsa, ggm or labels

    def pieces(self, role: str) -> list[str]:
        """The parts of a role that comes in pieces, in their order."""
        numbers = sorted(int(name.split(".")[1]) for name in self.parts if name.startswith(f"{role}."))
        return [self.parts[f"{role}.{number}"] for number in numbers]

    def with_piece(self, role: str, name: str) -> State:
        """One piece more."""
        return replace(self, parts={**self.parts, f"{role}.{len(self.pieces(role))}": name})

    def with_pieces(self, role: str, names: list[str]) -> State:
        """These pieces and no others."""
        others = {known: part for known, part in self.parts.items() if not known.startswith(f"{role}.")}
        return replace(self, parts=others | {f"{role}.{number}": name for number, name in enumerate(names)})

    def with_part(self, role: str, name: str | None) -> State:
        """Another part for a role; None for none."""
        others = {known: part for known, part in self.parts.items() if known != role}
        return replace(self, parts=others if name is None else others | {role: name})

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "shape": self.shape.to_dict(), "parts": dict(self.parts), "n_docs": self.n_docs, "model": self.model
        }  # fmt: skip

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> State:
        """What ``to_dict`` has written."""
        try:
            parts = {str(role): str(name) for role, name in body["parts"].items()}
            return cls(Shape.from_dict(body["shape"]), parts, int(body["n_docs"]), str(body["model"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedError(
                f"the state of this collection cannot be read: {in_words(error)}", hint="topiarist check"
            ) from error


def before_last(collection: Collection) -> tuple[Collection, edit_log.Edit]:
    """The collection before the last step, to be read and closed, and what the step was."""
    for entry in edit_log.history(collection.generation.database):
        if entry.before is not None:
            return before(collection, entry), entry
    raise UsageError(
        "nothing was done to this tree since it was grown", hint=f"topiarist shape {collection.folder.shown} --log"
    )


def steps(collection: Collection) -> list[edit_log.Edit]:
    """Everything that was done, oldest first."""
    return list(reversed(edit_log.history(collection.generation.database)))


def earlier(collection: Collection) -> list[edit_log.Edit]:
    """For each state that can still be looked at, except the one that holds, the last step that led away from it."""
    kept, seen, found = edit_log.remembered(collection.generation.database), {collection.number, None}, []
    for entry in edit_log.history(collection.generation.database):
        if entry.before not in seen:
            seen.add(entry.before)
            found += [entry] if entry.before in kept else []
    return found


def before(collection: Collection, entry: edit_log.Edit) -> Collection:
    """The collection before a step, to be read and closed; documents that were removed are in it."""
    if GENERATION in entry.body and entry.before != entry.after:
        return type(collection)(collection.folder.at_generation(str(entry.body[GENERATION])))
    if entry.before not in edit_log.remembered(collection.generation.database):
        raise UsageError(
            "what the collection was before the last step is not kept", hint="a copy of the folder made before"
        )
    return at(collection, entry.before or 0)


def at(collection: Collection, number: int) -> Collection:
    """The collection in one of its states."""
    found = type(collection)(Folder.open(collection.folder.path))
    found.state, found.number = State.from_dict(edit_log.state(found.generation.database, number)), number
    return found
