"""What the parts of a collection hold: counts, the shares of documents, a model with the words of its nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from topiarist.arrays import Array, Csr
from topiarist.collection.describe.nodes import NodeSummary
from topiarist.collection.judge.categories import Categories, read_told, write_told
from topiarist.collection.judge.heldout_answers import read_held_out, write_held_out
from topiarist.counts.column_map import ColumnMap
from topiarist.counts.corpus import text_of
from topiarist.counts.languages import Languages
from topiarist.counts.room import PIECE, ours, pieces, runs
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import DamagedError, in_words, lack
from topiarist.estimators.model_folder import load_model, save_model
from topiarist.store.sealed_folder import write_json
from topiarist.store.tensors import map_tensors, write_tensors
from topiarist.store.vocabulary_file import read_vocabulary, write_vocabulary
from topiarist.text.documents import Document
from topiarist.text.repeated import Repeated

ARRAYS, COUNTING, TOPICS, MODEL = "arrays.safetensors", "counting.json", "topics.json", "model"
CATEGORIES, LANGUAGES = "categories.json", "languages.safetensors"
CSR = ("data", "indices", "indptr")
SETTING_KINDS: dict[str, Any] = {  # of counting, as they may stand in a file
    "stem": str | None, "stop_words": str | tuple | None, "segmenter": str, "numbers": bool, "titles": bool,
    "min_documents": int, "min_document_share": float | int, "max_words": int | None, "max_document_share": float | int,
}  # fmt: skip
OF_DOCUMENTS = (
    "cluster_given_doc_",
    "class_given_doc_",
    "_class_given_doc",
    "labels_",
    "_lengths",
)  # kept as shares, not with the model


@dataclass(frozen=True)
class Counting:
    """How texts become counts: the words of the columns, and those that are too general to tell anything.

    ``map``: the columns as the tree sees them, where people have said something of words.
    """

    vocabulary: Vocabulary
    settings: CountSettings
    general: tuple[str, ...] = ()
    repeated: Repeated = field(default_factory=Repeated)  # lines that many documents share: they are not counted
    map: ColumnMap | None = None

    def heeded(self, counts: Csr) -> Csr:
        """Counts as the tree sees them."""
        return counts if self.map is None else self.map.applied(counts)

    def column(self, column: int | None) -> int | None:
        """The column that one counts for; None where the tree does not see it."""
        return column if self.map is None else self.map.column(column)

    def text_of(self, document: Document) -> str:
        """What is counted of a document."""
        return text_of(document, self.settings.titles, self.repeated)


@dataclass(frozen=True)
class Description:
    """The nodes of a model's tree as people read them, and what is known of the fit."""

    nodes: tuple[NodeSummary, ...]
    facts: Mapping[str, Any]  # curve, reason, what is usual for a document


def write_matrix(folder: Path, matrix: Csr) -> None:
    """Rows of counts or shares."""
    arrays = {name: np.ascontiguousarray(getattr(matrix, name)) for name in CSR}
    write_tensors(folder / ARRAYS, {**arrays, "shape": np.array(matrix.shape, np.int64)})


def write_languages(folder: Path, languages: Languages) -> None:
    """The languages of documents, for those who grow their tree."""
    codes = np.frombuffer(f"{' '.join(languages.codes)} ".encode(), np.uint8).copy()
    write_tensors(folder / LANGUAGES, {"codes": codes, "places": np.ascontiguousarray(languages.places)})


def read_languages(folder: Path) -> Languages | None:
    """What ``write_languages`` has written; None where an earlier version has not."""
    if not (folder / LANGUAGES).exists():
        return None
    arrays = map_tensors(folder / LANGUAGES)
    return Languages(tuple(bytes(arrays["codes"]).decode().split()), np.array(arrays["places"]))


def read_rows(folder: Path, rows: slice) -> Csr:
    """Some rows of what ``read_matrix`` reads, in memory; of the others nothing is looked at."""
    arrays = map_tensors(folder / ARRAYS)
    try:
        data, indices, indptr = (arrays[name] for name in CSR)
        n_rows, n_columns = arrays["shape"].tolist()
        start, stop, _ = rows.indices(n_rows)
        ends = np.array(indptr[start : stop + 1])
        here = slice(int(ends[0]), int(ends[-1]))
        found: Csr = csr_array(
            (data[here].copy(), indices[here].copy(), ends - ends[0]), shape=(stop - start, n_columns)
        )
        found.check_format()
        return found
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise DamagedError(f"{folder / ARRAYS} is damaged: {in_words(error)}", hint="topiarist check") from error


def read_matrix(folder: Path) -> Csr:
    """Rows of counts or shares, mapped: what is not looked at takes no memory."""
    arrays = map_tensors(folder / ARRAYS)
    try:
        data, indices, indptr = (ours(arrays[name]) for name in CSR)
        n_rows, n_columns = arrays["shape"].tolist()
        fits = indptr.ndim == 1 and len(indptr) == n_rows + 1 and indptr[0] == 0 and indptr[-1] == len(data)
        fits = fits and all((indptr[1:][here] >= indptr[:-1][here]).all() for here in runs(n_rows, PIECE))
        if not fits or len(data) != len(indices):
            raise ValueError("rows that do not fit together")
        if not all(part.min() >= 0 and part.max() < n_columns for (part,) in pieces(indices)):
            raise ValueError("columns that are not there")
        return csr_array((data, indices, indptr), shape=(n_rows, n_columns))
    except (KeyError, ValueError, TypeError) as error:
        raise DamagedError(f"{folder / ARRAYS} is damaged: {in_words(error)}", hint="topiarist check") from error


def write_minima(folder: Path, minima: Array) -> None:
    """What tells copies of documents, a row for each."""
    write_tensors(folder / ARRAYS, {"minima": np.ascontiguousarray(minima)})


def read_minima(folder: Path) -> Array:
    """What ``write_minima`` has written, mapped."""
    try:
        return ours(map_tensors(folder / ARRAYS)["minima"])
    except KeyError as error:
        raise DamagedError(f"{folder / ARRAYS} is damaged: {in_words(error)}", hint="topiarist check") from error


def stacked(matrices: Sequence[Csr]) -> Csr:
    """All rows; mapped if there is only one piece."""
    if len(matrices) == 1:
        return matrices[0]
    whole: Csr = vstack(matrices, format="csr")
    return whole


def with_rows(shares: Csr, where: Any, rows: Csr) -> Csr:
    """Shares with other ones for some documents: ``rows`` has them there, and nothing elsewhere."""
    whole = csr_array(shares.multiply(~where[:, None]) + rows)
    whole.eliminate_zeros()
    return whole


def read_pieces(folders: Sequence[Path], n_docs: int, role: str) -> Csr:
    """All rows of a role that comes in pieces."""
    found = stacked([read_matrix(folder) for folder in folders])
    if found.shape[0] != n_docs:
        raise DamagedError(
            f"the collection has {n_docs:,} documents and {role} of {found.shape[0]:,}", hint="topiarist check"
        )
    return found


def write_counting(folder: Path, counting: Counting) -> None:
    """The vocabulary and the settings."""
    write_vocabulary(folder, counting.vocabulary)
    body = {"settings": asdict(counting.settings), "general": counting.general, "repeated": counting.repeated.lines}
    _write_json(folder / COUNTING, body)


def read_counting(folder: Path) -> Counting:
    """What ``write_counting`` has written."""
    body = _read_json(folder / COUNTING)
    try:
        known = dict(body["settings"])
        known["phrases"] = PhraseSettings(**known["phrases"]) if known["phrases"] is not None else None
        words = known["stop_words"]
        known["stop_words"] = tuple(map(str, words)) if isinstance(words, list) else words
        odd = [name for name, kind in SETTING_KINDS.items() if name in known and not isinstance(known[name], kind)]
        if odd:
            raise ValueError(f"{odd[0]} is not what it should be")
        repeated = Repeated(tuple((str(line), int(number)) for line, number in body.get("repeated", ())))
        return Counting(read_vocabulary(folder), CountSettings(**known), tuple(map(str, body["general"])), repeated)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{folder / COUNTING} is damaged: {in_words(error)}", hint="topiarist check") from error


def write_tree(folder: Path, model: Any, description: Description) -> None:
    """A model without its documents, and its nodes in words."""
    known = {name: vars(model).pop(name) for name in OF_DOCUMENTS if name in vars(model)}
    try:
        save_model(model, folder / MODEL)
    finally:
        vars(model).update(known)
    write_description(folder, description)


def write_description(folder: Path, description: Description) -> None:
    """The nodes in words."""
    nodes = [asdict(node) for node in description.nodes]
    _write_json(folder / TOPICS, {"nodes": nodes, "facts": dict(description.facts)})


def read_description(folder: Path) -> Description:
    """The nodes in words."""
    body = _read_json(folder / TOPICS)
    try:
        nodes = tuple(NodeSummary(**{name: _tuple(value) for name, value in node.items()}) for node in body["nodes"])
        return Description(nodes, dict(body["facts"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{folder / TOPICS} is damaged: {in_words(error)}", hint="topiarist check") from error


def read_tree_model(folder: Path) -> Any:
    """The model, mapped."""
    return load_model(folder / MODEL)


def write_categories(folder: Path, categories: Categories) -> None:
    """A model of given labels."""
    save_model(categories.model, folder / MODEL)
    _write_json(folder / CATEGORIES, {"several": categories.several})
    write_answers(folder, categories)


def write_answers(folder: Path, categories: Categories) -> None:
    """What the model told of documents."""
    if categories.held is not None:
        write_held_out(folder, categories.held)
    if categories.known is not None:
        write_told(folder, *categories.known)


def read_categories(folder: Path) -> Categories:
    """What ``write_categories`` has written."""
    several = bool(_read_json(folder / CATEGORIES)["several"])
    return Categories(load_model(folder / MODEL), several, read_held_out(folder), read_told(folder))


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _write_json(path: Path, body: Any) -> None:
    write_json(path, body, sort_keys=True, allow_nan=False)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        if missing := lack(error, str(path)):
            raise missing from error
        raise DamagedError(f"{path} cannot be read: {in_words(error)}", hint="topiarist check") from error
