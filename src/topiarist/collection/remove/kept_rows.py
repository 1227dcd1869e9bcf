"""The parts of a collection without some documents: rows go, everything that was learned stays as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Array, Bools
from topiarist.collection import contents
from topiarist.collection.contents import Description
from topiarist.collection.copies import keep_copies, minima_of
from topiarist.collection.describe.provenance import GROWN_WITH, grown_with
from topiarist.collection.document_vectors import write_vectors
from topiarist.collection.find.index_part import write_without
from topiarist.collection.grow.inheritance import GROWN, n_grown
from topiarist.collection.grow.left_out import ADDED, COPIES, REPEATED, repeated_in, with_repeated
from topiarist.collection.judge.categories import ARRAYS as TOLD
from topiarist.collection.judge.categories import Categories, Told
from topiarist.collection.judge.heldout_answers import ARRAYS as HELD_OUT
from topiarist.collection.judge.heldout_answers import HeldOut
from topiarist.collection.shape.shape import Shape
from topiarist.collection.state import CATEGORIES, COUNTS, MINIMA, SEARCH, SHARES, TREE, VECTORS, State
from topiarist.counts.copies import Copies
from topiarist.counts.validation import column_totals
from topiarist.store import copy_table, facts
from topiarist.store.column_table import ColumnTable
from topiarist.store.date_table import Dates
from topiarist.store.generation import Part, new_part
from topiarist.store.review_table import ReviewTable
from topiarist.store.succession import Succession, part_like, same_part
from topiarist.text.language import language_of_text

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

STEADINESS = "steadiness"  # a setting that is true of one part
LANGUAGES, UNKNOWN = "languages", "languages_unknown"


def without_rows(collection: Collection, succession: Succession, keep: Bools) -> tuple[State, list[Part]]:
    """The state of a collection whose documents are those that ``keep`` says; in the new generation."""
    generation, old, parts = succession.new, collection.state, list[Part]()

    def kept(part: Part) -> str:
        parts.append(part)
        return part.name

    state = replace(old, n_docs=int(keep.sum()), shape=unpinned(collection, keep), parts={})
    with new_part(generation, COUNTS) as counts:
        contents.write_matrix(counts.folder, collection.all_counts[keep])
        contents.write_counting(counts.folder, collection.counting)
    with new_part(generation, SHARES) as shares:
        contents.write_matrix(shares.folder, collection.shares[keep])
    state = state.with_pieces(COUNTS, [kept(counts.part)]).with_pieces(SHARES, [kept(shares.part)])
    with part_like(succession, old.parts[TREE], TREE, without=(contents.TOPICS,)) as tree:
        contents.write_description(tree.folder, described(collection, keep))
    state = state.with_part(TREE, kept(tree.part)).with_pieces(MINIMA, [kept(minima(collection, succession, keep))])
    if collection.vectors is not None:
        state = state.with_pieces(VECTORS, [kept(vectors(collection, succession, keep))])
    state = state.with_part(SEARCH, kept(write_without(generation, collection.index, collection.words, keep)))
    if collection.categories is not None:
        with part_like(succession, old.parts[CATEGORIES], CATEGORIES, without=(HELD_OUT, TOLD)) as made:
            contents.write_answers(made.folder, categories(collection.categories, keep))
        state = state.with_part(CATEGORIES, kept(made.part))
    for role, name in old.parts.items():
        if role not in (TREE, SEARCH, CATEGORIES) and "." not in role:
            state = state.with_part(role, kept(same_part(succession, name, role)))
    return state, parts


def minima(collection: Collection, succession: Succession, keep: Bools) -> Part:
    """What tells copies of the documents that stay."""
    with new_part(succession.new, MINIMA) as part:
        contents.write_minima(part.folder, minima_of(collection)[keep])
    return part.part


def vectors(collection: Collection, succession: Succession, keep: Bools) -> Part:
    """The vectors of the documents that stay."""
    with new_part(succession.new, VECTORS) as part:
        write_vectors(part.folder, np.asarray(collection.vectors)[keep])
    return part.part


def copies(known: Copies, keep: Bools) -> Copies:
    """The copies that stay, by their rows now; where the first of a kind is gone, the next one is the first."""
    places, first = np.cumsum(keep) - 1, dict[int, int]()
    rows, originals, shared = list[int](), list[int](), list[float]()
    of_kind = sorted(zip(known.rows.tolist(), known.originals.tolist(), known.shared.tolist(), strict=True))
    for row, original, part in of_kind:
        if keep[original]:
            first[original] = original
        if not keep[row]:
            continue
        if original in first:
            rows.append(int(places[row]))
            originals.append(int(places[first[original]]))
            shared.append(part)
        else:
            first[original] = row
    return Copies(np.array(rows, np.int64), np.array(originals, np.int64), np.array(shared, np.float64))


def keep_tables(collection: Collection, succession: Succession, keep: Bools) -> None:
    """Tables that tell of documents together: columns are counted again, and copies are those that stay.

    What was drawn at random in reviews was drawn from other documents.
    """
    database = succession.new.database
    with database.transaction():
        ColumnTable(database).count_again()
        Dates(database).count_again()
        ReviewTable(database).of_other_documents()
        if copy_table.is_known(database):
            copy_table.forget_copies(database)
            keep_copies(database, copies(collection.copies, keep))


def settings(collection: Collection, keep: Bools, state: State) -> dict[str, Any]:
    """What is different in the settings of a collection without some documents."""
    known, database = collection.settings, collection.generation.database
    gone = np.flatnonzero(~keep).tolist()
    words = sum(
        float(collection.heard(collection.documents.many(gone[start : start + 500])).known.sum())
        for start in range(0, len(gone), 500)
    )
    changed: dict[str, Any] = {
        GROWN: int(keep[: n_grown(collection)].sum()),
        GROWN_WITH: int(keep[: grown_with(collection)].sum()),
        facts.TOKENS: max(0, round(facts.settings(database).get(facts.TOKENS, 0) - words)),
    }
    if known.get(LANGUAGES):
        changed |= _languages(collection, gone)
    left = copies(collection.copies, keep)
    changed[COPIES] = {"copies": len(left), "originals": left.n_originals}
    if (known.get(REPEATED) or {}).get("documents") and collection.counting.repeated.forms:
        changed[REPEATED] = _repeated(collection, keep)
    steady = known.get(STEADINESS)
    if isinstance(steady, dict) and steady.get("tree") == collection.state.parts[TREE]:
        changed[STEADINESS] = {**steady, "tree": state.parts[TREE]}
    elif steady is not None:
        changed[STEADINESS] = None
    return changed


def _languages(collection: Collection, gone: list[int]) -> dict[str, Any]:
    """How many of the documents from the sources are in each language, without some.

    Of a collection of an earlier version by what the texts that leave are in: what was added was never counted.
    """
    before, database = n_grown(collection), collection.generation.database
    noted = facts.languages(database, before)
    if noted is not None:
        left = Counter(noted)
        left.subtract(facts.languages_of(database, [row for row in gone if row < before]))
        unknown = left.pop("", 0)
        return {LANGUAGES: {code: number for code, number in left.items() if number}, UNKNOWN: unknown}
    known, unknown = dict(collection.settings[LANGUAGES]), int(collection.settings.get(UNKNOWN, 0))
    for row in (row for row in gone if row < before):
        code = language_of_text(collection.documents.get(row).text)
        if known.get(code, 0):
            known[code] -= 1
        else:
            unknown = max(0, unknown - 1)
    return {LANGUAGES: {code: number for code, number in known.items() if number}, UNKNOWN: unknown}


def _repeated(collection: Collection, keep: Bools) -> dict[str, Any]:
    """How many documents have lines that many share, and how many words these are, without some documents.

    Where those that were added are counted in, what leaves is taken off; else all that stay are looked at.
    """
    known, repeated = collection.settings[REPEATED], collection.counting.repeated
    if known.get(ADDED):
        gone = collection.documents.many(np.flatnonzero(~keep).tolist())
        number, words = repeated_in((one.text for one in gone), repeated)
        return with_repeated(known, -number, -words)
    staying = (one.text for row, one in enumerate(collection.documents.iterate()) if keep[row])
    return with_repeated({**known, "documents": 0, "words": 0, ADDED: 1}, *repeated_in(staying, repeated))


def unpinned(collection: Collection, keep: Bools) -> Shape:
    """The shape without the pins of documents that are gone."""
    pins = collection.outline.pins
    left = {name: topic for name, topic in pins.items() if keep[collection.documents.row_of(name)]}
    return replace(collection.outline, pins=left)


def described(collection: Collection, keep: Bools) -> Description:
    """The nodes in the words that they had, with the sizes that they have now, and typical documents that are left."""
    known, model = collection.description, collection.tree_model
    own = column_totals(collection.shares[keep])
    sizes, places = own @ model.tree.path_mask(model.class_nodes), np.cumsum(keep) - 1
    nodes = []
    for node, size in zip(known.nodes, sizes.tolist(), strict=True):
        pairs = [(row, said) for row, said in zip(node.rows, node.prototypes, strict=True) if keep[row]]
        rows, said = tuple(int(places[row]) for row, _ in pairs), tuple(text for _, text in pairs)
        nodes.append(replace(node, size=size, share=size / max(1, int(keep.sum())), rows=rows, prototypes=said))
    return Description(tuple(nodes), known.facts)


def categories(known: Categories, keep: Bools) -> Categories:
    """What is told of documents that are left, by their rows now."""
    held = None if known.held is None else _held(known.held, keep)
    told = None if known.known is None else _told(*known.known, keep)
    return replace(known, held=held, known=told)


def _held(held: HeldOut, keep: Bools) -> HeldOut:
    stay = keep[held.rows]
    rows = (np.cumsum(keep) - 1)[held.rows[stay]]
    values: Mapping[str, Array] = {one.name: getattr(held, one.name) for one in fields(HeldOut)}
    changed = {"rows": rows, "groups": held.groups[stay], "certainty": held.certainty[stay]}
    changed |= _places(values, stay, "right_place", ("right_label",))
    changed |= _places(values, stay, "told_place", ("told_label", "told_share", "told_score"))
    return HeldOut(**{**values, **changed})


def _told(rows: Array, told: Told, keep: Bools) -> tuple[Array, Told]:
    stay = keep[rows]
    values = {"place": told.place, "label": told.label, "share": told.share, "score": told.score}
    best = None if told.best is None else (told.best[0][stay], told.best[1][stay])
    left = _places(values, stay, "place", ("label", "share", "score"))
    return (np.cumsum(keep) - 1)[rows[stay]], Told(**left, best=best)


def _places(values: Mapping[str, Array], stay: Bools, place: str, others: tuple[str, ...]) -> dict[str, Array]:
    """Entries of a list of documents, and what lies beside each, for the documents that stay."""
    there = stay[values[place]]
    moved = (np.cumsum(stay) - 1)[values[place][there]].astype(values[place].dtype)
    return {place: moved, **{name: np.asarray(values[name][there]) for name in others}}
