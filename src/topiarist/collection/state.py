"""State of a collection after an edit: its tree and its parts on disk, and the states before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from topiarist.collection.shape.tree_state import TreeState
from topiarist.errors import UsageError, reading
from topiarist.storage import edit_log
from topiarist.storage.collection_folder import Folder

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

COUNTS, SHARES, TREE, SEARCH, CATEGORIES = "counts", "shares", "tree", "search", "categories"
MINIMA = "minima"  # signatures of documents, in pieces like counts
VECTORS = "vectors"  # embeddings, in pieces like counts, if there are any
GENERATION = "generation"  # field of a log entry: generation of the state before, if not the present one
FLAT = "flat"  # topics without a tree, for the index


@dataclass(frozen=True)
class State:
    """State as the edit log stores it.

    ``parts`` has the name of the part for each role: "tree" is the model with the descriptions of its nodes, "search"
    the similarity index, "categories" a classifier of labels. Counts and shares come in pieces, "counts.0", "counts.1"
    and so on, one for each addition of documents.
    """

    shape: TreeState
    parts: Mapping[str, str]
    n_docs: int
    model: str  # model of the tree: cam, hplsa, ggm or labels

    def pieces(self, role: str) -> list[str]:
        """Return the parts of a role with several pieces, in their order."""
        numbers = sorted(int(name.split(".")[1]) for name in self.parts if name.startswith(f"{role}."))
        return [self.parts[f"{role}.{number}"] for number in numbers]

    def with_piece(self, role: str, name: str) -> State:
        return replace(self, parts={**self.parts, f"{role}.{len(self.pieces(role))}": name})

    def with_pieces(self, role: str, names: list[str]) -> State:
        others = {
            name_of_role: part for name_of_role, part in self.parts.items() if not name_of_role.startswith(f"{role}.")
        }
        return replace(self, parts=others | {f"{role}.{number}": name for number, name in enumerate(names)})

    def with_part(self, role: str, name: str | None) -> State:
        """Return the state with another part for a role; None removes the role."""
        others = {name_of_role: part for name_of_role, part in self.parts.items() if name_of_role != role}
        return replace(self, parts=others if name is None else others | {role: name})

    def to_dict(self) -> dict[str, Any]:
        return {
            "shape": self.shape.to_dict(), "parts": dict(self.parts), "n_docs": self.n_docs, "model": self.model
        }  # fmt: skip

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> State:
        with reading("the state of this collection"):
            parts = {str(role): str(name) for role, name in body["parts"].items()}
            return cls(TreeState.from_dict(body["shape"]), parts, int(body["n_docs"]), str(body["model"]))


def open_state_before_last(collection: Collection) -> tuple[Collection, edit_log.Edit]:
    """Open the collection before the last edit, and return it with the edit."""
    for entry in edit_log.history(collection.generation.database):
        if entry.before is not None:
            return open_state_before(collection, entry), entry
    raise UsageError(
        "the tree has no edits since it was grown", hint=f"Run topiarist shape {collection.folder.display_path} --log."
    )


def open_state_before(collection: Collection, entry: edit_log.Edit) -> Collection:
    """Open the collection before an edit, including documents removed since; the caller closes it."""
    if GENERATION in entry.body and entry.before != entry.after:
        return type(collection)(collection.folder.at_generation(str(entry.body[GENERATION])))
    if entry.before not in edit_log.list_remembered(collection.generation.database):
        raise UsageError("the state before the last edit is not kept", hint="Open an earlier copy of the folder.")
    return open_state(collection, entry.before or 0)


def open_state(collection: Collection, number: int) -> Collection:
    opened = type(collection)(Folder.open(collection.folder.path))
    opened.show_state(number, State.from_dict(edit_log.state(opened.generation.database, number)))
    return opened
