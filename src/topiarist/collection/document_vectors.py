"""Embeddings of documents: stored in half precision, mapped, and written in parts while a grow computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Floats, Ints
from topiarist.collection import contents
from topiarist.collection.contents import Counting
from topiarist.collection.copies import select_fitted_rows
from topiarist.collection.state import VECTORS, State
from topiarist.counts.embeddings import vector_sources
from topiarist.counts.embeddings.vector_sources import VectorSource, to_vector_source
from topiarist.counts.embeddings.word_encoder import WordEncoder, mark_words
from topiarist.counts.vectors import compute_nearest_cosines, find_rows_with_vectors
from topiarist.errors import InputError, UsageError
from topiarist.storage import edit_log, facts
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Generation, open_part
from topiarist.text.documents import Document
from topiarist.text.language import detect_language_among, language_name
from topiarist.text.stop_words import resolve_stop_words

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

BATCH = 4_096  # documents whose vectors are stored at once
PARTIAL_VECTORS, READ_VECTORS = "coming_vectors", "read_vectors"  # settings with the parts: during a grow, and complete
ABOUT_VECTORS = "vectors"  # setting with the source
FOREIGN = "other_languages"  # field of the setting: documents in languages that the encoder does not know
MAX_LANGUAGES = 3  # languages in an error
OUTLIER_SHARE = 0.01  # share of a collection's own documents that are outliers
SAMPLE = 5_000  # documents, spread evenly, from which the threshold is computed
MIN_DOCUMENTS = 50  # documents with vectors; fewer give no threshold


def load_vectors(
    generation: Generation, source: Any, n_docs: int, report: Callable[[str], None] = lambda _: None
) -> Floats | None:
    """Return all embeddings of a grow; compute and store missing ones in parts. None without a source."""
    settings = facts.settings(generation.database)
    if settings.get(READ_VECTORS):
        vectors: Floats = contents.read_rows(open_part(generation, settings[READ_VECTORS]), VECTORS)
        return vectors
    if source is None:
        return None
    source = to_vector_source(source)
    parts, documents = list(settings.get(PARTIAL_VECTORS, [])), Documents(generation.database)
    rows = [contents.read_rows(open_part(generation, name), VECTORS) for name in parts]
    done, n_foreign = sum(map(len, rows)), 0
    while done < n_docs:
        batch = documents.load_many(range(done, min(done + BATCH, n_docs)))
        codes = facts.language_codes(generation.database, range(done, done + len(batch)))
        rows.append(_encode_batch(source, done, batch, rows[0].shape[1] if rows else None, codes))
        part = contents.write_part(generation, VECTORS, rows[-1])
        parts.append(part.name)
        with generation.database.transaction():
            edit_log.keep(generation.database, [part])
            facts.change_settings(generation.database, {PARTIAL_VECTORS: parts})
        done += len(batch)
    source.check(n_docs)
    vectors = contents.stack_rows(rows)
    n_vectors, name = int(np.count_nonzero(find_rows_with_vectors(vectors))), parts[0]
    if not n_vectors:
        raise InputError("no document has a vector", hint="Pass vectors that are not all zero.")
    new_parts = [] if len(rows) == 1 else [contents.write_part(generation, VECTORS, vectors)]
    about = {"from": source.describe(), "encoder": getattr(source, "name", ""), "documents": n_vectors}
    about |= {"kind": type(source).__name__, "dimensions": int(vectors.shape[1])}
    if known_languages(source):
        sizes, known_codes = facts.languages(generation.database) or {}, known_languages(source)
        n_foreign = sum(number for code, number in sizes.items() if code and code not in known_codes)
        about[FOREIGN] = n_foreign
    with generation.database.transaction():
        edit_log.keep(generation.database, new_parts)
        name = new_parts[0].name if new_parts else name
        facts.change_settings(generation.database, {READ_VECTORS: name, PARTIAL_VECTORS: [], ABOUT_VECTORS: about})
        edit_log.drop(generation.database, [part for part in parts if part != name])
    missing = (
        f"; {n_docs - n_vectors:,} documents have none and are placed by their words" if n_vectors < n_docs else ""
    )
    missing += f" ({n_foreign:,} in languages that the encoder does not know)" if n_foreign else ""
    report(f"{n_vectors:,} vectors of {vectors.shape[1]} dimensions, {source.describe()}{missing}")
    return vectors


def known_languages(source: VectorSource) -> tuple[str, ...]:
    """Return the codes of the languages of an encoder; empty for a source for any language."""
    return tuple(getattr(source, "languages", ()))


def describe_unknown_language(source: VectorSource, sizes: Mapping[str, int]) -> str:
    """Return a sentence if most documents, by language code, are in a language unknown to the encoder."""
    codes_known = known_languages(source)
    detected = {code: number for code, number in sizes.items() if code and number}
    if not codes_known or not detected or max(detected, key=lambda code: detected[code]) in codes_known:
        return ""
    total, main_languages = sum(detected.values()), sorted(detected.items(), key=lambda item: -item[1])[:MAX_LANGUAGES]
    shares = ", ".join(f"{language_name(code)} {number / total:.0%}" for code, number in main_languages)
    return (
        f"The encoder knows {' and '.join(map(language_name, codes_known))} only, the documents are in other languages "
        f"({shares}): words alone decide"
    )


def _encode_batch(
    source: VectorSource, first: int, documents: Sequence[Document], n_dims: int | None, codes: Sequence[str]
) -> Floats:
    """Return the vectors of a batch; a document in a language unknown to the encoder gets zeros."""
    codes_known = known_languages(source)
    places = [place for place, code in enumerate(codes) if not codes_known or not code or code in codes_known]
    if len(places) == len(documents):
        rows = np.asarray(source.load(first, documents), np.float16)
    else:
        encoded = np.asarray(source.load(first, [documents[place] for place in places]), np.float16)
        rows = make_zero_vectors(len(documents), encoded.shape[1])
        rows[places] = encoded
    if n_dims not in (None, rows.shape[1]):
        raise InputError(f"expected vectors of {n_dims} dimensions, got {rows.shape[1]}", hint="Use the same encoder.")
    return rows


def with_vectors(generation: Generation, state: State) -> State:
    """Return the state of a grow with its embeddings, if there are any."""
    name = facts.settings(generation.database).get(READ_VECTORS)
    return state if not name else state.with_pieces(VECTORS, [name])


def vectors_for(collection: Collection, documents: Sequence[Document], first: int, source: Any) -> Floats | None:
    """Return vectors of new documents, from a source or the encoder; None if words decide or without one."""
    vectors = collection.vectors
    if vectors is None or (source is not None and has_word_vectors(collection)):
        if source is not None:
            raise InputError(
                "this collection was grown without vectors", hint="Grow it with vectors, or leave them out."
            )
        return None
    if source is None:
        source = find_encoder(collection)
        if source is None:
            return None
    source = to_vector_source(source)
    codes = [
        detect_language_among(document.text, collection.languages) if known_languages(source) else ""
        for document in documents
    ]
    return _encode_batch(source, first, documents, vectors.shape[1], codes)


def describe_missing_vectors(collection: Collection, source: Any = None) -> str:
    """Return a sentence if new documents lack the embeddings that the collection has; otherwise nothing."""
    if source is not None or not collection.state.pieces(VECTORS) or find_encoder(collection) is not None:
        return ""
    return "The documents of this collection have vectors, these came without: their words alone placed them"


def vector_source(
    file: str | None = None, program: str | None = None, *, encoder: bool = False, n_threads: int | None = None
) -> VectorSource | None:
    """Return the source of embeddings from options: a file, a program or the encoder; None without any."""
    if sum((file is not None, program is not None, encoder)) > 1:
        raise UsageError("expected one source of vectors", hint="Pass a file, a program or the encoder.")
    if file is not None:
        return vector_sources.read_vectors(file)
    if program is not None:
        from topiarist.counts.embeddings.program import Program

        return Program.from_line(program)
    if encoder:
        from topiarist.counts.embeddings.encoder import Encoder
        from topiarist.execution.threads import count_available_cores

        return Encoder.create(n_threads or count_available_cores())
    return None


def find_encoder(collection: Collection) -> VectorSource | None:
    """Return the encoder that a collection was grown with, if installed; None otherwise."""
    if has_word_vectors(collection):
        return collection.word_encoder
    from topiarist.counts.embeddings.encoder import NAME as ENCODER
    from topiarist.counts.embeddings.encoder import Encoder, is_installed

    about = collection.settings.get(ABOUT_VECTORS) or {}
    if about.get("kind") != Encoder.__name__ or about.get("encoder") != ENCODER or not is_installed():
        return None
    return _encoder()


def has_word_vectors(collection: Collection) -> bool:
    """Return whether the embeddings of a collection come from the bundled word vectors."""
    return bool(collection.state.pieces(VECTORS)) and are_word_vectors(collection.settings)


def are_word_vectors(settings: Mapping[str, Any]) -> bool:
    """Return whether the settings of a collection name the bundled word vectors as the source of its embeddings."""
    return (settings.get(ABOUT_VECTORS) or {}).get("kind") == WordEncoder.__name__


def create_word_encoder(counting: Counting) -> WordEncoder:
    """Return an encoder by the bundled word vectors for texts that are counted in this way."""
    vocabulary, tokenizer = counting.vocabulary, counting.settings.tokenizer
    hidden = [] if counting.map is None else np.flatnonzero(counting.map.target < 0).tolist()
    forms = vocabulary.forms or tuple((word,) for word in vocabulary.words)
    ignored = {*counting.general, *resolve_stop_words(counting.settings.stop_words)}
    ignored.update(*(forms[column] for column in hidden))
    return WordEncoder.create(vocabulary, lambda document: tokenizer(counting.text_of(document)), ignored)


def restore_word_encoder(collection: Collection) -> WordEncoder:
    """Return the encoder by the bundled word vectors, adapted to the documents and vectors of a collection."""
    rows = select_fitted_rows(collection.copies, len(collection))
    return adapt_word_encoder(collection.counting, collection.all_counts, collection.vectors, rows)


def adapt_word_encoder(counting: Counting, counts: Csr, vectors: Floats | None, rows: Ints | None) -> WordEncoder:
    """Return the encoder that is adapted to documents with vectors; ``rows`` are those without duplicates."""
    if rows is not None:
        counts, vectors = counts[rows], None if vectors is None else vectors[rows]
    return create_word_encoder(counting).adapt(mark_words(counts), vectors)


@cache
def _encoder() -> VectorSource:
    """Return the encoder of this process, which reads its weights once."""
    from topiarist.counts.embeddings.encoder import Encoder

    return Encoder.create()


def make_zero_vectors(n_docs: int, n_dims: int) -> Array:
    """Return zero rows for documents without an embedding."""
    return np.zeros((n_docs, n_dims), np.float16)


@dataclass(frozen=True)
class OutlierThreshold:
    """Cosine threshold below which a document is an outlier for every topic."""

    directions: Floats
    limit: float  # cosine
    share: float  # of the collection's own documents below the limit

    def is_outlier(self, vectors: Floats) -> Bools:
        """Return for each document whether every topic is too far; never for a document without a vector."""
        outliers: Bools = compute_nearest_cosines(vectors, self.directions) < self.limit
        return outliers


def find_outlier_threshold(collection: Collection, share: float = OUTLIER_SHARE) -> OutlierThreshold | None:
    """Return the threshold of a collection; None if its tree has no directions or too few documents have a vector."""
    directions, vectors = getattr(collection.model, "directions_", None), collection.vectors
    if directions is None or vectors is None:
        return None
    cosines = compute_nearest_cosines(vectors[:: max(1, -(-len(vectors) // SAMPLE))], directions)
    cosines = cosines[np.isfinite(cosines)]
    return (
        OutlierThreshold(directions, float(np.quantile(cosines, share)), share)
        if len(cosines) >= MIN_DOCUMENTS
        else None
    )
