"""Edits of a collection: apply them, record them in the edit log, fit the tree, and undo them exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr
from topiarist.collection import contents
from topiarist.collection.copies import select_fitted_rows
from topiarist.collection.describe.topic_tree import contains_word
from topiarist.collection.grow.fit_description import (
    compute_familiarity_limits,
    find_stable_nodes,
    name_by_words,
    open_corpus,
    save_fit,
)
from topiarist.collection.search import index_part
from topiarist.collection.search.saved_searches import restore_searches
from topiarist.collection.shape.edit_language import (
    describe_edit,
    encode_edit,
    format_edit,
    list_topics_in_edit,
    parse_edit,
    replace_topic_names,
)
from topiarist.collection.shape.edits import Branch, Edit, Pin, apply
from topiarist.collection.shape.kept_names import find_name_changes, retire_names
from topiarist.collection.shape.refit import Start, compute_start, refit_counts
from topiarist.collection.shape.tree_state import TreeState
from topiarist.collection.shape.words import find_seed_columns
from topiarist.collection.shape.words import resolve_words as known_words
from topiarist.collection.state import FLAT, GENERATION, SEARCH, SHARES, State
from topiarist.collection.unsorted import name_unsorted
from topiarist.errors import UsageError
from topiarist.estimators.category.categorisers import HPLC, HierarchicalMixture
from topiarist.estimators.tree.fitted_tree import learn_directions
from topiarist.estimators.tree.refit import refit
from topiarist.estimators.tree_models import TREE_MODELS
from topiarist.plurals import count_noun
from topiarist.progress import ProgressReporter
from topiarist.storage import edit_log
from topiarist.storage.collection_folder import Manifest
from topiarist.storage.database import Database
from topiarist.storage.generation import DATABASE, Generation, Part
from topiarist.storage.succession import carry_marks_back
from topiarist.trees.tree import Tree

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

EDIT, REFIT, UNDO, LEARN = "edit", "refit", "undo", "learn"
ADD, REMOVE, FORGET = "add", "remove", "forget"  # of documents
WITH = "with"  # field of a fit, and of the undo of both: the edit that requested it
FITTED = "fitted"  # field of an edit that was fitted at once
ITERATIONS, STOPPED = "iterations", "stopped"  # fields of a fit: number of iterations, and why it ended
BY_USER = "interrupted"  # value of ``STOPPED`` after a stop by the user
UNDOABLE = (EDIT, REFIT, LEARN, ADD, REMOVE)


class ChangedError(UsageError):
    """Error for a tree that has changed since the caller read it."""


def identify_state(collection: Collection) -> str:
    """Return the identifier of the present state; state numbers restart with each generation."""
    return f"{collection.generation.folder.name}:{collection.number}"


def preview_edits(collection: Collection, edits: Sequence[Edit]) -> TreeState:
    """Return the tree after some edits without changing the collection."""
    return _apply_all(collection, [known_words(collection, name_unsorted(collection, edit)) for edit in edits])


def apply_edits(
    collection: Collection,
    edits: Sequence[Edit],
    *,
    refit: bool = True,
    verbose: bool = False,
    wait: float = 0.0,
    expected: str | None = None,
    reporter: ProgressReporter | None = None,
    edit_number: int | None = None,
) -> None:
    """Apply edits, all or none, and refit the tree if ``refit`` is true and an edit requires it.

    An empty list of edits requests a fit only. Edits and fit are recorded and undone as one edit. ``wait`` is the time
    in seconds to wait for another write. ``expected`` is a state: the call fails for any other. ``reporter`` receives
    the steps of the fit and can stop it. ``edit_number`` is the edit that requested this fit, so that both are undone
    together.
    """
    with collection.folder.writing(wait=wait) as generation:
        collection.refresh()
        check_expected(collection, expected)
        edits = [known_words(collection, name_unsorted(collection, edit)) for edit in edits]
        outline = _apply_all(collection, edits)
        state, parts, outcome = replace(collection.state, shape=outline), list[Part](), dict[str, Any]()
        fits = refit and (outline.pending or not edits)
        if fits:
            state, parts, outcome = fit_tree(collection, generation, outline, verbose=verbose, reporter=reporter)
        else:
            if (outline.titles, outline.ignored) != (collection.outline.titles, collection.outline.ignored):
                state = replace(
                    state,
                    shape=name_by_words(outline, collection.description, _find_unchanged_names(collection, outline)),
                )
            state = replace(state, shape=retire_names(collection.outline, state.shape))
            if outline.pins != collection.outline.pins:
                state, parts = _write_pinned_shares(collection, generation, state)
        body: dict[str, Any] = {
            "edits": [encode_edit(edit) for edit in edits],
            "topics": _list_topics(collection.outline, edits),
        }
        if fits:
            body |= {FITTED: True, **outcome}
            body |= find_name_changes(outline, state.shape).to_dict()
            body |= {} if edits or edit_number is None else _link_to_edit(generation, edit_number)
        edit_log.record(generation.database, EDIT if edits else REFIT, body, state.to_dict(), parts=parts)
    collection.refresh()


def _link_to_edit(generation: Generation, number: int) -> dict[str, Any]:
    """Return the fields that link a fit to the edit that requested it; none if that is not the last edit."""
    last = last_step(generation)
    if last.number != number or last.kind != EDIT:
        return {}
    return {WITH: number, "edits": last.body["edits"], "topics": last.body.get("topics")}


def _find_unchanged_names(collection: Collection, outline: TreeState) -> frozenset[int]:
    """Return the nodes that keep their names: no user name was removed and no word of it is ignored."""
    bare = collection.outline.titles.keys() - outline.titles.keys()
    return frozenset(
        node
        for node, topic in enumerate(outline.topics)
        if topic not in bare and not contains_word(outline.name(topic), outline.ignored)
    )


def _write_pinned_shares(collection: Collection, generation: Generation, state: State) -> tuple[State, list[Part]]:
    """Write shares with pinned documents under their topics; return the state and new parts, if any.

    Pins of a new topic wait for the fit.
    """
    rows = {name: row for row, name in enumerate(collection.documents.ids())}
    shares = pin_shares(collection.shares, state.shape, rows)
    if shares is collection.shares:
        return state, []
    part = contents.write_part(generation, SHARES, shares)
    return state.with_pieces(SHARES, [part.name]), [part]


def undo_last_step(collection: Collection, *, wait: float = 0.0, expected: str | None = None) -> str:
    """Undo the last edit in force; the state before it is restored exactly."""
    collection.refresh()
    check_expected(collection, expected)  # before the error that there is nothing to undo
    if last_step(collection.generation).kind == ADD:
        from topiarist.collection.remove.removal import undo_addition

        return summarise_step(undo_addition(collection, wait=wait, expected=expected))
    with collection.folder.writing(wait=wait) as generation:
        collection.refresh()
        check_expected(collection, expected)
        last = last_step(generation)
        if last.kind == REMOVE:
            _restore_removed(collection, generation, last)
        else:
            first = _find_first_entry(generation, last)
            fit_of = {} if first is last else {WITH: first.number}
            edit_log.record(generation.database, UNDO, {"edit": last.number, **fit_of}, first.before)  # type: ignore[arg-type]
    collection.refresh()
    if last.kind == REMOVE:
        from topiarist.collection.describe.account import write_problem_list

        write_problem_list(collection)
    return summarise_step(last)


def _find_first_entry(generation: Generation, last: edit_log.Edit) -> edit_log.Edit:
    """Return the edit that requested a fit, if the state before it is kept; otherwise the fit itself."""
    number = last.body.get(WITH)
    if number is None:
        return last
    entries = [
        entry for entry in edit_log.history(generation.database, until=number + 1, limit=1) if entry.number == number
    ]
    return entries[0] if entries and _is_kept(generation, entries[0]) else last


def _restore_removed(collection: Collection, generation: Generation, last: edit_log.Edit) -> None:
    """Publish the generation before a removal with later user edits; safe to repeat after a kill."""
    name = str(last.body[GENERATION])
    collection.folder.at_generation(name).close()  # raises the error for a missing generation
    old_generation = Generation.open(collection.folder.path / name, collection.folder.display_path, write=True)
    try:
        carry_marks_back(generation.database, old_generation.database)
        restore_searches(generation.database, old_generation.database)
        current_state = edit_log.latest(old_generation.database)
        newest = edit_log.history(old_generation.database, limit=2)
        if current_state is not None and [entry.kind for entry in newest] != [UNDO, REMOVE]:
            with old_generation.database.transaction():
                edit_log.record(old_generation.database, REMOVE, last.body, current_state, time=last.time)
                number = edit_log.history(old_generation.database, limit=1)[0].number
                edit_log.record(old_generation.database, UNDO, {"edit": number}, current_state)
    finally:
        old_generation.close()
    manifest = collection.folder.manifest
    collection.folder.go_to(Manifest(name, kept=tuple(entry for entry in manifest.kept if entry != name)))


def check_expected(collection: Collection, expected: str | None) -> None:
    """Raise ChangedError if ``expected`` is not the present state."""
    if expected is not None and expected != identify_state(collection):
        raise ChangedError("the tree has changed since this page was made", hint="Reload the page and try again.")


def last_step(generation: Generation) -> edit_log.Edit:
    """Return the newest edit that is not undone; raise UsageError if it cannot be undone.

    Edits before the last few additions are not kept.
    """
    undone_numbers = set[int | None]()
    for entry in edit_log.walk(generation.database):
        if entry.kind == UNDO:
            undone_numbers.update((entry.body["edit"], entry.body.get(WITH)))
        elif entry.before is None:
            break
        elif entry.number not in undone_numbers:
            if entry.kind in UNDOABLE and _is_kept(generation, entry):
                return entry
            reason = "erasure is permanent" if entry.kind == FORGET else "the state before it is not kept"
            raise UsageError(
                f"the last step ({summarise_step(entry)}) and earlier edits cannot be undone: {reason}. "
                "Use further edits to change names, merges and pins, and remove documents",
                hint=f"Run topiarist shape {generation.display_path} rename TOPIC NAME, or use an earlier copy of the folder.",
            )
    raise UsageError(
        "there is nothing to undo", hint=f"Run topiarist shape {generation.display_path} --log to see the edits."
    )


def find_learning(database: Database) -> edit_log.Edit | None:
    """Return the newest learning of categories that is not undone; None without one."""
    undos = edit_log.history(database, kind=UNDO)
    undone_numbers = {number for entry in undos for number in (entry.body["edit"], entry.body.get(WITH))}
    entries = edit_log.history(database, kind=LEARN)
    return next((entry for entry in entries if entry.number not in undone_numbers), None)


def _is_kept(generation: Generation, entry: edit_log.Edit) -> bool:
    if entry.kind == REMOVE:
        return (generation.folder.parent / str(entry.body[GENERATION]) / DATABASE).is_file()
    return entry.before in edit_log.list_remembered(generation.database)


def summarise_step(entry: edit_log.Edit, *, numbers: bool = True) -> str:
    """Return a log entry in a few words: as a command with topic numbers, or in words without ``numbers``."""
    if entry.kind == UNDO:
        return f"undo of {entry.body['edit']}"
    if entry.kind != EDIT and not (entry.kind == REFIT and entry.body.get("edits")):
        documents = entry.body.get("said") or count_noun(entry.body.get("documents", 0), "document")
        summaries = {
            "grow": "grown", "add": f"{documents} added", REMOVE: f"{documents} removed",
            FORGET: f"{documents} forgotten for good",
            LEARN: "categories learned", REFIT: _describe_fit(entry),
        }  # fmt: skip
        return summaries.get(entry.kind, entry.kind)
    topics = entry.body.get("topics") or [{}] * len(entry.body["edits"])
    write_edit = format_edit if numbers else describe_edit
    edits = "; ".join(
        write_edit(replace_topic_names(parse_edit(edit), _map_names(summaries), numbers=numbers))
        for edit, summaries in zip(entry.body["edits"], topics, strict=True)
    )
    return edits if entry.kind == EDIT else f"{edits}; {_describe_fit(entry)}"


def describe_step(database: Database, entry: edit_log.Edit) -> str:
    """Return a log entry as pages show it; an undo names the undone edit."""
    if entry.kind != UNDO:
        return summarise_step(entry, numbers=False)
    number = entry.body["edit"]
    undone_edits = [edit for edit in edit_log.history(database, until=number + 1, limit=1) if edit.number == number]
    return f"undo: {summarise_step(undone_edits[0], numbers=False)}" if undone_edits else "undo"


def get_stop_iteration(entry: edit_log.Edit) -> int | None:
    """Return the iteration at which a user stopped a fit; None for a complete fit."""
    return int(entry.body[ITERATIONS]) if entry.body.get(STOPPED) == BY_USER else None


def _describe_fit(entry: edit_log.Edit) -> str:
    steps = get_stop_iteration(entry)
    return "fitted again" if steps is None else f"fitted again, stopped after {count_noun(steps, 'iteration')}"


def _map_names(topics: Mapping[str, Any]) -> dict[str, str]:
    return {text: str(topic["name"]) for text, topic in topics.items()}


def _list_topics(shape: TreeState, edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """Return for each edit the numbers and names of its topics before the edit."""
    topics_by_edit = []
    for edit in edits:
        topics = {}
        for text in list_topics_in_edit(edit):
            topic = shape.find(text)
            topics[str(text)] = {"topic": topic, "name": shape.name(topic)}
        topics_by_edit.append(topics)
        shape = apply(shape, edit)
    return topics_by_edit


def _apply_all(collection: Collection, edits: Sequence[Edit]) -> TreeState:
    """Return the tree state after all edits; an unknown document or topic is an error."""
    shape = collection.outline
    for edit in edits:
        if isinstance(edit, Pin | Branch):
            for document in edit.documents:
                collection.documents.row_of(document)  # raises the error with the nearest id
        shape = apply(shape, edit)
    return shape


def fit_tree(
    collection: Collection,
    generation: Generation,
    shape: TreeState,
    *,
    verbose: bool = False,
    reporter: ProgressReporter | None = None,
    from_start: bool = False,
) -> tuple[State, list[Part], dict[str, Any]]:
    """Return state, new parts and outcome of a fit; ``from_start`` keeps no earlier names or search words."""
    counting, row_of = collection.counting_of(shape), {name: row for row, name in enumerate(collection.documents.ids())}
    counts = counting.apply_word_edits(collection.all_counts)
    initial = compute_start(shape, collection.tree_model.class_nodes, collection.shares, counts, row_of)
    rows = select_fitted_rows(collection.copies, len(collection), np.flatnonzero(initial.pins >= 0).tolist())
    shares, pins = (initial.shares, initial.pins) if rows is None else (initial.shares[rows], initial.pins[rows])
    with refit_counts(counts, rows, generation.folder) as fit_counts:
        model = refit(
            _create_model(collection, shape.tree, verbose=verbose), fit_counts, initial.class_nodes, shares, pins, reporter,
            seeds=find_seed_columns(shape, counting.vocabulary),
        )  # fmt: skip
    if reporter is not None:
        reporter.begin_ending()
    vectors, weight = collection.vectors, getattr(collection.model, "concentration_", 0.0)
    if vectors is not None and weight:
        known_counts, known_vectors = (counts, vectors) if rows is None else (counts[rows], vectors[rows])
        learn_directions(model, known_counts, known_vectors, weight)
    corpus = open_corpus(generation, counts, counting)
    old_facts = collection.description.facts
    description_facts = {name: old_facts[name] for name in ("curve", "familiar", "certainty") if name in old_facts}
    if from_start:
        description_facts["familiar"] = compute_familiarity_limits(generation, counting)
    fit = save_fit(
        generation, model, corpus, counting, description_facts,
        copies=collection.copies, move_pinned=lambda shares: _apply_pins(shares, initial), shape=shape,
        vectors=vectors,
    )  # fmt: skip
    full_corpus = replace(corpus, counts=collection.all_counts)  # search can use any word
    flat = collection.part(collection.state.parts[FLAT])
    search_before = None if from_start else collection.part(collection.state.parts[SEARCH])
    search = index_part.write_index(generation, model, flat, full_corpus, previous=search_before)
    class_topics = tuple(shape.topics[node] for node in initial.class_nodes)
    fitted_shape = replace(
        shape, class_topics=class_topics, node_topics=shape.topics, added_topics=frozenset(), pending=False
    )
    steady = (
        frozenset()
        if from_start
        else find_stable_nodes(fitted_shape, fit.shares, collection.outline, collection.shares)
    )
    named = name_by_words(fitted_shape, fit.description, steady)
    named = replace(named, former_names={}) if from_start else retire_names(collection.outline, named)
    state = fit.in_state(replace(collection.state, shape=named))
    return (
        state.with_part(SEARCH, search.name),
        [*fit.parts, search],
        {ITERATIONS: int(model.n_iter_), STOPPED: model.stopped_},
    )


def _create_model(collection: Collection, tree: Tree, *, verbose: bool) -> HPLC:
    """Return an unfitted categoriser for the tree with the calibration of the present one."""
    was = collection.model
    if isinstance(was, HPLC):
        return type(was)(tree, calibrate=was.calibrate, verbose=int(verbose))
    mixes = TREE_MODELS[collection.state.model].mixes_classes
    return (HPLC if mixes else HierarchicalMixture)(tree, verbose=int(verbose))


def _apply_pins(shares: Csr, start: Start) -> Csr:
    """Replace the shares of pinned documents by their classes."""
    rows = np.flatnonzero(start.pins >= 0)
    entries = (np.ones(len(rows)), (np.arange(len(rows)), start.pins[rows]))
    return contents.replace_rows(shares, rows, csr_array(entries, shape=(len(rows), shares.shape[1])))


def pin_shares(shares: Csr, shape: TreeState, rows: Mapping[str, int]) -> Csr:
    """Return the shares with pinned documents entirely under their topics.

    A document keeps its proportions among the classes of its topic, or of the topics below it. Without any share
    there, it gets the first class. A topic added since the last fit has no class, so its documents wait for the fit.
    """
    mask, class_topics = shape.tree.path_mask(shape.class_nodes), np.array(shape.class_topics)
    pinned_rows, values = list[int](), list[Array]()
    for document, topic in shape.pins.items():
        is_class = class_topics == topic if topic in class_topics else mask[:, shape.node(topic)]
        if document in rows and is_class.any():
            share = shares[[rows[document]]].toarray().ravel() * is_class
            pinned_rows.append(rows[document])
            total = share[is_class].sum()
            values.append(share / total if total > 0 else np.eye(1, len(share), int(is_class.argmax())).ravel())
    return contents.replace_rows(shares, np.array(pinned_rows, np.int64), np.array(values))
