"""Parts of a collection without some of its documents; learned values do not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Bools
from topiarist.collection import contents
from topiarist.collection.classify.predictions import (
    HELDOUT_FILE,
    PREDICTIONS_FILE,
    Categories,
    HeldOut,
    PredictedLabels,
)
from topiarist.collection.contents import Counting, Description
from topiarist.collection.copies import save_duplicates
from topiarist.collection.describe.provenance import GROWN_WITH, count_documents_at_growth
from topiarist.collection.grow.exclusions import COPIES, REPEATED, add_repeated_lines, count_repeated_lines
from topiarist.collection.grow.inheritance import N_GROWN, count_grown_documents
from topiarist.collection.search.index_part import write_without
from topiarist.collection.shape.tree_state import TreeState
from topiarist.collection.state import CATEGORIES, COUNTS, MINIMA, SEARCH, SHARES, TREE, VECTORS, State
from topiarist.counts.duplicates import Duplicates
from topiarist.counts.validation import sum_columns
from topiarist.storage import facts
from topiarist.storage.column_table import ColumnTable
from topiarist.storage.date_table import Dates
from topiarist.storage.generation import Part
from topiarist.storage.review_table import ReviewTable
from topiarist.storage.succession import ReducedGeneration, copy_part, copy_whole_part

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

STEADINESS = "steadiness"  # a setting that is valid for one tree part
LANGUAGES, UNKNOWN = "languages", "languages_unknown"


def write_parts(collection: Collection, succession: ReducedGeneration, keep: Bools) -> tuple[State, list[Part]]:
    """Write the parts of the documents in ``keep`` into the new generation; return their state."""
    generation, old = succession.new, collection.state

    def add_part(part: Part) -> str:
        parts.append(part)
        return part.name

    state = replace(old, n_docs=int(keep.sum()), shape=drop_pins(collection, keep), parts={})
    state, parts = write_rows(collection, succession, keep, state, collection.counting)
    with copy_part(succession, old.parts[TREE], TREE, excluded_names=(contents.TOPICS,)) as tree:
        contents.write_description(tree.folder, reduce_description(collection, keep))
    state = state.with_part(TREE, add_part(tree.part))
    state = state.with_part(SEARCH, add_part(write_without(generation, collection.index, collection.words, keep)))
    if collection.categories is not None:
        with copy_part(
            succession, old.parts[CATEGORIES], CATEGORIES, excluded_names=(HELDOUT_FILE, PREDICTIONS_FILE)
        ) as categories_part:
            contents.write_answers(categories_part.folder, reduce_categories(collection.categories, keep))
        state = state.with_part(CATEGORIES, add_part(categories_part.part))
    for role, name in old.parts.items():
        if role not in (TREE, SEARCH, CATEGORIES) and "." not in role:
            state = state.with_part(role, add_part(copy_whole_part(succession, name, role)))
    return state, parts


def write_rows(
    collection: Collection,
    succession: ReducedGeneration,
    keep: Bools,
    state: State,
    counting: Counting,
    columns: Bools | None = None,
) -> tuple[State, list[Part]]:
    """Write counts, shares, signatures and vectors of the documents in ``keep``; return state and new parts."""
    counts = collection.all_counts[keep]
    rows: dict[str, Any] = {COUNTS: counts if columns is None else counts[:, columns], SHARES: collection.shares[keep]}
    rows[MINIMA] = collection.minima[keep]
    if collection.vectors is not None:
        rows[VECTORS] = np.asarray(collection.vectors)[keep]
    parts = []
    for role, values in rows.items():
        parts.append(contents.write_part(succession.new, role, values, counting if role == COUNTS else None))
        state = state.with_pieces(role, [parts[-1].name])
    return state, parts


def reduce_duplicates(duplicates: Duplicates, keep: Bools) -> Duplicates:
    """Return the duplicates among the remaining documents; the first remaining one of a group is its original."""
    places, new_original = np.cumsum(keep) - 1, dict[int, int]()
    rows, originals, shared = list[int](), list[int](), list[float]()
    entries = sorted(
        zip(duplicates.rows.tolist(), duplicates.originals.tolist(), duplicates.shared.tolist(), strict=True)
    )
    for row, original, share in entries:
        if keep[original]:
            new_original[original] = original
        if not keep[row]:
            continue
        if original in new_original:
            rows.append(int(places[row]))
            originals.append(int(places[new_original[original]]))
            shared.append(share)
        else:
            new_original[original] = row
    return Duplicates(np.array(rows, np.int64), np.array(originals, np.int64), np.array(shared, np.float64))


def update_tables(collection: Collection, succession: ReducedGeneration, keep: Bools) -> None:
    """Recount columns and dates, store the remaining duplicates and void random draws of reviews."""
    database = succession.new.database
    with database.transaction():
        ColumnTable(database).count_again()
        Dates(database).count_again()
        ReviewTable(database).of_other_documents()
        facts.clear_duplicates(database)
        save_duplicates(database, reduce_duplicates(collection.copies, keep))


def change_settings(collection: Collection, keep: Bools, state: State) -> dict[str, Any]:
    """Return the changed counts, languages, duplicates and stability of the settings; store nothing."""
    settings, database = collection.settings, collection.generation.database
    removed = np.flatnonzero(~keep).tolist()
    words = sum(
        float(
            collection.count_with_coverage(
                collection.documents.load_many(removed[start : start + 500])
            ).known_tokens.sum()
        )
        for start in range(0, len(removed), 500)
    )
    changes: dict[str, Any] = {
        N_GROWN: int(keep[: count_grown_documents(collection)].sum()),
        GROWN_WITH: int(keep[: count_documents_at_growth(collection)].sum()),
        facts.TOKENS_SETTING: max(0, round(facts.settings(database).get(facts.TOKENS_SETTING, 0) - words)),
    }
    if settings.get(LANGUAGES):
        changes |= _count_languages(collection, removed)
    duplicates = reduce_duplicates(collection.copies, keep)
    changes[COPIES] = {"copies": len(duplicates), "originals": duplicates.n_originals}
    if (settings.get(REPEATED) or {}).get("documents") and collection.counting.repeated.forms:
        changes[REPEATED] = _count_repeated_lines(collection, keep)
    stability = settings.get(STEADINESS)
    if isinstance(stability, dict) and stability.get("tree") == collection.state.parts[TREE]:
        changes[STEADINESS] = {**stability, "tree": state.parts[TREE]}
    elif stability is not None:
        changes[STEADINESS] = None
    return changes


def _count_languages(collection: Collection, rows: list[int]) -> dict[str, Any]:
    """Return the number of remaining source documents in each language."""
    n_grown, database = count_grown_documents(collection), collection.generation.database
    counts = Counter(facts.languages(database, n_grown))
    counts.subtract(facts.languages_of(database, [row for row in rows if row < n_grown]))
    unknown = counts.pop("", 0)
    return {LANGUAGES: {code: number for code, number in counts.items() if number}, UNKNOWN: unknown}


def _count_repeated_lines(collection: Collection, keep: Bools) -> dict[str, Any]:
    """Return the repeated-line setting without the removed documents."""
    documents = collection.documents.load_many(np.flatnonzero(~keep).tolist())
    number, words = count_repeated_lines((document.text for document in documents), collection.counting.repeated)
    return add_repeated_lines(collection.settings[REPEATED], -number, -words)


def drop_pins(collection: Collection, keep: Bools) -> TreeState:
    """Return the tree state without pins of removed documents."""
    pins = collection.outline.pins
    pins_left = {name: topic for name, topic in pins.items() if keep[collection.documents.row_of(name)]}
    return replace(collection.outline, pins=pins_left)


def reduce_description(collection: Collection, keep: Bools) -> Description:
    """Return the descriptions of nodes with the sizes and typical documents that remain; words stay."""
    description, model = collection.description, collection.tree_model
    class_totals = sum_columns(collection.shares[keep])
    sizes, places = class_totals @ model.tree.path_mask(model.class_nodes), np.cumsum(keep) - 1
    nodes = []
    for node, size in zip(description.nodes, sizes.tolist(), strict=True):
        pairs = [(row, text) for row, text in zip(node.rows, node.prototypes, strict=True) if keep[row]]
        rows, prototypes = tuple(int(places[row]) for row, _ in pairs), tuple(text for _, text in pairs)
        nodes.append(replace(node, size=size, share=size / max(1, int(keep.sum())), rows=rows, prototypes=prototypes))
    return Description(tuple(nodes), description.facts)


def reduce_categories(categories: Categories, keep: Bools) -> Categories:
    """Return the categories with held-out documents and predictions that remain, by their new rows."""
    heldout = None if categories.heldout is None else _reduce_heldout(categories.heldout, keep)
    predictions = (
        None if categories.stored_predictions is None else _reduce_predictions(*categories.stored_predictions, keep)
    )
    return replace(categories, heldout=heldout, stored_predictions=predictions)


def _reduce_heldout(heldout: HeldOut, keep: Bools) -> HeldOut:
    """Return the held-out documents that remain, with new row numbers and their labels."""
    keep_heldout = keep[heldout.rows]
    rows = (np.cumsum(keep) - 1)[heldout.rows[keep_heldout]]
    left = _reduce_entries(vars(heldout), keep_heldout, "right_place", ("right_label",))
    left |= _reduce_entries(vars(heldout), keep_heldout, "told_place", ("told_label", "told_share", "told_score"))
    groups, certainty = heldout.groups[keep_heldout], heldout.certainty[keep_heldout]
    return replace(heldout, rows=rows, groups=groups, certainty=certainty, **left)


def _reduce_predictions(rows: Array, predictions: PredictedLabels, keep: Bools) -> tuple[Array, PredictedLabels]:
    return (np.cumsum(keep) - 1)[rows[keep[rows]]], predictions.select(keep[rows])


def _reduce_entries(values: Mapping[str, Array], stay: Bools, place: str, others: tuple[str, ...]) -> dict[str, Array]:
    """Return the entries of the remaining documents: their new indices and the values with them."""
    keep_entries = stay[values[place]]
    new_places = (np.cumsum(stay) - 1)[values[place][keep_entries]].astype(values[place].dtype)
    return {place: new_places, **{name: np.asarray(values[name][keep_entries]) for name in others}}
