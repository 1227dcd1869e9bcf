"""Files of the parts of a collection: counts, shares of documents, models and descriptions of nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from topiarist.arrays import Csr, Ints
from topiarist.collection.classify.predictions import (
    Categories,
    read_held_out,
    read_predictions,
    write_held_out,
    write_predictions,
)
from topiarist.collection.state import MINIMA, VECTORS
from topiarist.counts.column_map import ColumnMap
from topiarist.counts.languages import Languages
from topiarist.counts.scratch import ENTRIES_PER_RUN, iterate_arrays, mark_releasable, split_range
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, reading
from topiarist.storage.generation import Generation, Part, new_part
from topiarist.storage.sealed_folder import write_json
from topiarist.storage.tensors import map_tensors, write_tensors
from topiarist.storage.vocabulary_file import read_vocabulary, write_vocabulary
from topiarist.text.documents import Document
from topiarist.text.repeated import Repeated

ROOT = "Everything"  # name of the root
ARRAYS, COUNTING, TOPICS, MODEL = "arrays.safetensors", "counting.json", "topics.json", "model"
CATEGORIES, LANGUAGES = "categories.json", "languages.safetensors"
WORD_MODEL = "words"  # folder of the labels of words, beside that of the categories
CSR = ("data", "indices", "indptr")
DENSE_TYPES = {MINIMA: np.uint32, VECTORS: np.float16}  # of the numbers, for the roles with dense rows
SETTING_KINDS: dict[str, Any] = {  # valid types in a file of counting settings
    "stem": str | None, "stop_words": str | tuple | None, "segmenter": str, "numbers": bool, "titles": bool,
    "min_documents": int, "min_document_share": float | int, "max_words": int | None, "max_document_share": float | int,
}  # fmt: skip
DOCUMENT_ATTRIBUTES = (
    "cluster_given_doc_",
    "class_given_doc_",
    "_class_given_doc",
    "labels_",
    "_lengths",
)  # stored as shares, not with the model


@dataclass(frozen=True)
class Counting:
    """Rules for counting texts: vocabulary, settings, general words, and ``map`` with the edits of words."""

    vocabulary: Vocabulary
    settings: CountSettings
    general: tuple[str, ...] = ()
    repeated: Repeated = field(default_factory=Repeated)  # repeated lines, which are not counted
    map: ColumnMap | None = None

    def apply_word_edits(self, counts: Csr) -> Csr:
        return counts if self.map is None else self.map.apply(counts)

    def column(self, column: int | None) -> int | None:
        """Return the column that a column counts as; None if the model ignores it."""
        return column if self.map is None else self.map.column(column)

    def text_of(self, document: Document) -> str:
        from topiarist.counts.corpus import build_counted_text

        return build_counted_text(document, self.settings.titles, self.repeated)


@dataclass(frozen=True)
class NodeSummary:
    """Node with its characteristic words, expected number and share of documents, and typical documents."""

    words: tuple[str, ...]
    size: float
    share: float
    prototypes: tuple[str, ...]
    coherence: float
    depth: int
    rows: tuple[int, ...] = ()  # rows of the prototypes
    names: tuple[str, ...] = ()  # candidate names, the best first
    gain: float = 0.0  # information gain of showing its children instead of the node


@dataclass(frozen=True)
class Description:
    """Descriptions of the nodes of a model, and facts about the fit."""

    nodes: tuple[NodeSummary, ...]
    facts: Mapping[str, Any]  # curve, reason, usual values of a document


def write_part(generation: Generation, role: str, rows: Any, counting: Counting | None = None) -> Part:
    """Write a row for each document as a new part; ``counting`` adds the rules of counting to it."""
    with new_part(generation, role) as part:
        write_rows(part.folder, role, rows)
        if counting is not None:
            write_counting(part.folder, counting)
    return part.part


def write_rows(folder: Path, role: str, rows: Any) -> None:
    """Write rows of documents: sparse counts and shares, dense signatures and embeddings."""
    if role in DENSE_TYPES:
        write_tensors(folder / ARRAYS, {role: np.ascontiguousarray(rows, DENSE_TYPES[role])})
    else:
        arrays = {name: np.ascontiguousarray(getattr(rows, name)) for name in CSR}
        write_tensors(folder / ARRAYS, {**arrays, "shape": np.array(rows.shape, np.int64)})


def read_rows(folder: Path, role: str) -> Any:
    """Return the rows that ``write_rows`` wrote, as a memory-mapped matrix."""
    if role not in DENSE_TYPES:
        return read_matrix(folder)
    with reading(str(folder / ARRAYS)):
        rows = mark_releasable(map_tensors(folder / ARRAYS)[role])
        if rows.ndim != 2:
            raise ValueError(f"an array of shape {rows.shape}")
        return rows


def write_languages(folder: Path, languages: Languages) -> None:
    """Write the languages of documents for growing their trees."""
    codes = np.frombuffer(f"{' '.join(languages.codes)} ".encode(), np.uint8).copy()
    write_tensors(folder / LANGUAGES, {"codes": codes, "places": np.ascontiguousarray(languages.places)})


def read_languages(folder: Path) -> Languages:
    arrays = map_tensors(folder / LANGUAGES)
    return Languages(tuple(bytes(arrays["codes"]).decode().split()), np.array(arrays["places"]))


def load_some_rows(folder: Path, rows: slice) -> Csr:
    """Load some rows of a matrix into memory, without reading the rest."""
    arrays = map_tensors(folder / ARRAYS)
    with reading(str(folder / ARRAYS)):
        data, indices, indptr = (arrays[name] for name in CSR)
        n_rows, n_columns = arrays["shape"].tolist()
        start, stop, _ = rows.indices(n_rows)
        ends = np.array(indptr[start : stop + 1])
        entries = slice(int(ends[0]), int(ends[-1]))
        matrix: Csr = csr_array(
            (data[entries].copy(), indices[entries].copy(), ends - ends[0]), shape=(stop - start, n_columns)
        )
        matrix.check_format()
        return matrix


def read_matrix(folder: Path) -> Csr:
    """Return counts or shares, mapped, so that unread rows take no memory."""
    arrays = map_tensors(folder / ARRAYS)
    with reading(str(folder / ARRAYS)):
        data, indices, indptr = (mark_releasable(arrays[name]) for name in CSR)
        n_rows, n_columns = arrays["shape"].tolist()
        fits = indptr.ndim == 1 and len(indptr) == n_rows + 1 and indptr[0] == 0 and indptr[-1] == len(data)
        fits = fits and all(
            (indptr[1:][block] >= indptr[:-1][block]).all() for block in split_range(n_rows, ENTRIES_PER_RUN)
        )
        if not fits or len(data) != len(indices):
            raise ValueError("rows that do not fit together")
        if not all(part.min() >= 0 and part.max() < n_columns for (part,) in iterate_arrays(indices)):
            raise ValueError("columns out of range")
        return csr_array((data, indices, indptr), shape=(n_rows, n_columns))


def stack_rows(pieces: Sequence[Any]) -> Any:
    """Return the rows of all matrices or arrays; a single one stays mapped."""
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if isinstance(pieces[0], np.ndarray) else vstack(pieces, format="csr")


def replace_rows(shares: Csr, rows: Ints, values: Any) -> Csr:
    """Return shares with other values in some rows."""
    if not len(rows):
        return shares
    keep = np.ones(shares.shape[0], np.bool_)
    keep[rows] = False
    order = np.concatenate([np.flatnonzero(keep), rows])
    result: Csr = stack_rows([shares[keep], csr_array(values, dtype=shares.dtype)])[np.argsort(order)]
    return result


def read_pieces(folders: Sequence[Path], n_docs: int, role: str) -> Any:
    """Return the stacked rows of stored pieces; raise DamagedError for a wrong number of rows."""
    if not folders:
        raise DamagedError(f"the collection has no {role}", hint="Run topiarist check.")
    rows = stack_rows([read_rows(folder, role) for folder in folders])
    if rows.shape[0] != n_docs:
        raise DamagedError(
            f"the collection has {n_docs:,} documents and {role} of {rows.shape[0]:,}", hint="Run topiarist check."
        )
    return rows


def write_counting(folder: Path, counting: Counting) -> None:
    write_vocabulary(folder, counting.vocabulary)
    body = {"settings": asdict(counting.settings), "general": counting.general, "repeated": counting.repeated.lines}
    _write_json(folder / COUNTING, body)


def read_counting(folder: Path) -> Counting:
    """Read the rules of counting, with the vocabulary; raise DamagedError for invalid contents."""
    body = _read_json(folder / COUNTING)
    with reading(str(folder / COUNTING)):
        settings = dict(body["settings"])
        settings["phrases"] = PhraseSettings(**settings["phrases"]) if settings["phrases"] is not None else None
        words = settings["stop_words"]
        settings["stop_words"] = tuple(map(str, words)) if isinstance(words, list) else words
        wrong_names = [
            name for name, kind in SETTING_KINDS.items() if name in settings and not isinstance(settings[name], kind)
        ]
        if wrong_names:
            raise ValueError(f"{wrong_names[0]} has an invalid type")
        repeated = Repeated(tuple((str(line), int(number)) for line, number in body.get("repeated", ())))
        return Counting(read_vocabulary(folder), CountSettings(**settings), tuple(map(str, body["general"])), repeated)


def write_tree(folder: Path, model: Any, description: Description) -> None:
    """Write a model without its documents, and the descriptions of its nodes."""
    from topiarist.estimators.model_folder import save_model

    document_values = {name: vars(model).pop(name) for name in DOCUMENT_ATTRIBUTES if name in vars(model)}
    try:
        save_model(model, folder / MODEL)
    finally:
        vars(model).update(document_values)
    write_description(folder, description)


def write_description(folder: Path, description: Description) -> None:
    nodes = [asdict(node) for node in description.nodes]
    _write_json(folder / TOPICS, {"nodes": nodes, "facts": dict(description.facts)})


def read_description(folder: Path) -> Description:
    """Read the descriptions of the nodes and the facts of the fit."""
    body = _read_json(folder / TOPICS)
    with reading(str(folder / TOPICS)):
        bodies: list[dict[str, Any]] = [
            {name: tuple(value) if isinstance(value, list) else value for name, value in node.items()}
            for node in body["nodes"]
        ]
        nodes = tuple(NodeSummary(**node_body) for node_body in bodies)
        return Description(nodes, dict(body["facts"]))


def read_tree_model(folder: Path) -> Any:
    """Return the model of the tree, mapped."""
    from topiarist.estimators.model_folder import load_model

    return load_model(folder / MODEL)


def write_categories(folder: Path, categories: Categories) -> None:
    """Write the models of learned categories, with their held-out documents and predictions."""
    from topiarist.estimators.model_folder import save_model

    save_model(categories.model, folder / MODEL)
    if categories.word_model is not None:
        save_model(categories.word_model, folder / WORD_MODEL)
    _write_json(folder / CATEGORIES, {"several": categories.is_multilabel})
    write_answers(folder, categories)


def write_answers(folder: Path, categories: Categories) -> None:
    if categories.heldout is not None:
        write_held_out(folder, categories.heldout)
    if categories.stored_predictions is not None:
        write_predictions(folder, *categories.stored_predictions)


def read_categories(folder: Path) -> Categories:
    """Read learned categories; raise DamagedError for models of other types or sizes."""
    from topiarist.estimators.category.category_learner import CategoryLearner
    from topiarist.estimators.category.pmm import PMM
    from topiarist.estimators.model_folder import load_model

    several, model = bool(_read_json(folder / CATEGORIES)["several"]), load_model(folder / MODEL)
    word_model = load_model(folder / WORD_MODEL) if (folder / WORD_MODEL).exists() else None
    for name, value, kind in ((MODEL, model, CategoryLearner), (WORD_MODEL, word_model, PMM)):
        fits = isinstance(value, kind) and value.n_features_in_ == model.n_features_in_
        if not fits and (name == MODEL or value is not None):
            mismatch = f"expected a {kind.__name__}, got a {type(value).__name__}"
            if isinstance(value, kind):
                mismatch = f"expected {model.n_features_in_:,} words, got {value.n_features_in_:,}"
            raise DamagedError(f"{folder / name} is damaged: {mismatch}", hint="Run topiarist check.")
    return Categories(model, several, read_held_out(folder), read_predictions(folder), word_model)


def _write_json(path: Path, body: Any) -> None:
    write_json(path, body, sort_keys=True, allow_nan=False)


def _read_json(path: Path) -> Any:
    with reading(str(path)):
        return json.loads(path.read_bytes())
