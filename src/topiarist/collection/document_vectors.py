"""The vectors that documents came with: how they are kept, in half precision and mapped, and what brings new ones.

They come in pieces as counts do. A grow keeps them as they come, some thousand documents at a time, so that one that
was stopped goes on with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Floats
from topiarist.collection import contents
from topiarist.collection.state import VECTORS, State
from topiarist.counts.embeddings import given
from topiarist.counts.embeddings.given import VectorSource, given_vectors
from topiarist.counts.vectors import has_vector
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.store import edit_log, facts
from topiarist.store.document_table import Documents
from topiarist.store.generation import Generation, Part, new_part, open_part
from topiarist.store.tensors import map_tensors, write_tensors
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

TOGETHER = 4_096  # documents whose vectors are kept at once
COMING, READ_VECTORS = "coming_vectors", "read_vectors"  # the settings have the parts: on the way, and when all came
ABOUT = "vectors"  # the settings have where they come from
NAME = "vectors"  # of the array in a part


def write_vectors(folder: Any, rows: Floats) -> None:
    """Rows in half precision."""
    write_tensors(folder / contents.ARRAYS, {NAME: np.ascontiguousarray(rows, np.float16)})


def read_vectors(folder: Any) -> Floats:
    """What ``write_vectors`` has written, mapped."""
    try:
        found = map_tensors(folder / contents.ARRAYS)[NAME]
        if found.ndim != 2:
            raise ValueError(f"an array of shape {found.shape}")
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{folder / contents.ARRAYS} is damaged: {error}", hint="topiarist check") from error
    return found


def brought(
    generation: Generation, source: Any, n_docs: int, tell: Callable[[str], None] = lambda _: None
) -> Floats | None:
    """The vectors of all documents of a grow, from where they come or as they are kept already; None without any."""
    known = facts.settings(generation.database)
    if known.get(READ_VECTORS):
        return read_vectors(open_part(generation, known[READ_VECTORS]))
    if source is None:
        return None
    source = given_vectors(source)
    parts, documents = list(known.get(COMING, [])), Documents(generation.database)
    rows = [read_vectors(open_part(generation, name)) for name in parts]
    done = sum(map(len, rows))
    while done < n_docs:
        some = documents.many(range(done, min(done + TOGETHER, n_docs)))
        rows.append(_checked(source, done, some, rows[0].shape[1] if rows else None))
        part = _kept(generation, rows[-1])
        parts.append(part.name)
        with generation.database.transaction():
            edit_log.keep(generation.database, [part])
            facts.change_settings(generation.database, {COMING: parts})
        done += len(some)
    source.check(n_docs)
    whole = rows[0] if len(rows) == 1 else np.concatenate(rows)
    there, name = int(np.count_nonzero(has_vector(whole))), parts[0]
    if not there:
        raise InputError("no document has a vector", hint="vectors that are not all zero")
    made = [] if len(rows) == 1 else [_kept(generation, whole)]
    about = {"from": source.said(), "encoder": getattr(source, "name", ""), "documents": there}
    about |= {"kind": type(source).__name__, "dimensions": int(whole.shape[1])}
    with generation.database.transaction():
        edit_log.keep(generation.database, made)
        name = made[0].name if made else name
        facts.change_settings(generation.database, {READ_VECTORS: name, COMING: [], ABOUT: about})
        edit_log.drop(generation.database, [part for part in parts if part != name])
    missing = f"; {n_docs - there:,} documents have none and are told by their words" if there < n_docs else ""
    tell(f"{there:,} vectors of {whole.shape[1]} dimensions, {source.said()}{missing}")
    return whole


def _checked(source: VectorSource, first: int, documents: Sequence[Document], n_dims: int | None) -> Floats:
    rows = np.asarray(source.of(first, documents), np.float16)
    if n_dims not in (None, rows.shape[1]):
        raise InputError(
            f"vectors of {rows.shape[1]} dimensions came, and those before have {n_dims}", hint="the same encoder"
        )
    return rows


def _kept(generation: Generation, rows: Floats) -> Part:
    with new_part(generation, VECTORS) as part:
        write_vectors(part.folder, rows)
    return part.part


def with_vectors(generation: Generation, state: State) -> State:
    """A state of a grow with the vectors that came, if any did."""
    name = facts.settings(generation.database).get(READ_VECTORS)
    return state if not name else state.with_pieces(VECTORS, [name])


def vectors_of(collection: Collection) -> Floats | None:
    """The vectors of all documents, mapped where they lie in one piece; None where there are none."""
    pieces = [read_vectors(collection.part(name)) for name in collection.state.pieces(VECTORS)]
    if not pieces:
        return None
    whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    if len(whole) != len(collection):
        raise DamagedError(
            f"the collection has {len(collection):,} documents and {len(whole):,} vectors", hint="topiarist check"
        )
    return whole


def vectors_for(collection: Collection, documents: Sequence[Document], first: int, source: Any) -> Floats | None:
    """The vectors of new documents: as somebody brings them, or by the encoder that the collection was grown with.

    None where the collection has no vectors, or nobody can tell those of the documents: words decide alone then.
    """
    known = collection.vectors
    if known is None:
        if source is not None:
            raise InputError(
                "this collection was grown without vectors", hint="grow it with vectors, or leave them out"
            )
        return None
    if source is None:
        source = own_encoder(collection)
        if source is None:
            return None
    return _checked(given_vectors(source), first, documents, known.shape[1])


def placed_by_words(collection: Collection, source: Any = None) -> str:
    """A sentence where new documents come without vectors to a collection that has some; nothing otherwise."""
    if source is not None or not collection.state.pieces(VECTORS) or own_encoder(collection) is not None:
        return ""
    return "The documents of this collection have vectors, these came without: their words alone placed them"


def vector_source(
    file: str | None = None, program: str | None = None, *, encoder: bool = False, n_threads: int | None = None
) -> VectorSource | None:
    """Where vectors come from, as people say it: a file, a program, or the encoder here; None for none of them."""
    if sum((file is not None, program is not None, encoder)) > 1:
        raise UsageError("vectors come from one place", hint="a file, a program, or the encoder")
    if file is not None:
        return given.read_vectors(file)
    if program is not None:
        from topiarist.counts.embeddings.program import Program

        return Program.from_line(program)
    if encoder:
        from topiarist.counts.embeddings.encoder import Encoder
        from topiarist.scale.threads import available_cores

        return Encoder.here(n_threads or available_cores())
    return None


def own_encoder(collection: Collection) -> VectorSource | None:
    """The encoder that a collection was grown with, where it is installed; None otherwise."""
    from topiarist.counts.embeddings.encoder import NAME as ENCODER
    from topiarist.counts.embeddings.encoder import Encoder, is_installed

    about = collection.settings.get(ABOUT) or {}
    if about.get("kind") != Encoder.__name__ or about.get("encoder") != ENCODER or not is_installed():
        return None
    return _encoder()


@cache
def _encoder() -> VectorSource:
    """One for this process: its weights are read once."""
    from topiarist.counts.embeddings.encoder import Encoder

    return Encoder.here()


def none_for(n_docs: int, n_dims: int) -> Array:
    """Rows of documents that came without a vector."""
    return np.zeros((n_docs, n_dims), np.float16)
