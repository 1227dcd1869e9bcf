"""Edits of a collection's tree: applied, written down, fitted, and taken back exactly (undo)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr
from topiarist.collection import contents
from topiarist.collection.copies import fitted_rows
from topiarist.collection.describe.topic_tree import says
from topiarist.collection.find import index_part
from topiarist.collection.find.saved_searches import carry_back
from topiarist.collection.grow.fit_description import corpus_of, familiar, keep_fit, labelled, stayed
from topiarist.collection.shape.edit_language import edit_from, named_as, spoken_of, to_entry, to_sentence, to_words
from topiarist.collection.shape.edits import Branch, Edit, Pin, apply
from topiarist.collection.shape.refit_blocks import refit_counts
from topiarist.collection.shape.refit_start import Start, start
from topiarist.collection.shape.shape import Shape
from topiarist.collection.shape.word_use import known as known_words
from topiarist.collection.shape.word_use import seed_columns
from topiarist.collection.state import FLAT, GENERATION, SEARCH, SHARES, State
from topiarist.counts.validation import column_totals
from topiarist.errors import UsageError
from topiarist.estimators.category.categorisers import HPLC, HierarchicalMixture
from topiarist.estimators.common.progress import Watching
from topiarist.estimators.tree.fitted_tree import learn_directions
from topiarist.estimators.tree.refit import refit
from topiarist.estimators.tree_models import TREE_MODELS
from topiarist.store import edit_log
from topiarist.store.collection_folder import Manifest
from topiarist.store.database import Database
from topiarist.store.generation import DATABASE, Generation, Part, new_part
from topiarist.store.succession import carry_marks_back

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

EDIT, REFIT, UNDO, LEARN = "edit", "refit", "undo", "learn"
ADD, REMOVE, FORGET = "add", "remove", "forget"  # of documents
WITH = "with"  # a fit has it, and the undo of both: the edit that it was asked for with
FITTED = "fitted"  # an edit has it that was fitted at once
ITERATIONS, STOPPED = "iterations", "stopped"  # of a fit: how many, and why it ended
INTERRUPTED = "interrupted"  # why, if somebody stopped it
UNDOABLE = (EDIT, REFIT, LEARN, ADD, REMOVE)


class ChangedError(UsageError):
    """Somebody else has changed the tree since whoever wants to change it looked."""


def mark(collection: Collection) -> str:
    """What tells this state from all others: states are counted anew when a collection is grown anew."""
    return f"{collection.generation.folder.name}:{collection.number}"


@dataclass(frozen=True)
class Preview:
    """What edits would make of the tree, before anything is fitted."""

    shape: Shape
    sizes: dict[int, float]  # expected documents under each topic


def preview(collection: Collection, edits: Sequence[Edit]) -> Preview:
    """The tree after some edits; nothing is changed."""
    edits = [known_words(collection, one) for one in edits]
    shape = _applied(collection, edits)
    own = column_totals(collection.shares)
    sizes = own @ shape.tree.path_mask(shape.class_nodes)
    return Preview(shape, {topic: float(sizes[node]) for node, topic in enumerate(shape.topics)})


def shape(
    collection: Collection,
    edits: Sequence[Edit],
    *,
    refit: bool = True,
    verbose: bool = False,
    wait: float = 0.0,
    expected: str | None = None,
    watching: Watching | None = None,
    after: int | None = None,
) -> None:
    """Apply edits, all or none; and fit the tree again, if that is asked for and any of them needs it.

    No edits at all ask for a fit and nothing else.
    Edits and fit are one step: it is written down, and taken back, as a whole.
    ``wait``: seconds for another writer to end. ``expected``: only if this is still the state. ``watching``: whoever
    is told how the fit goes, and may end it. ``after``: the number of the edit that this fit was asked for with, so
    that both are taken back as one step.
    """
    with collection.folder.writing(wait=wait) as generation:
        collection.refresh()
        check_expected(collection, expected)
        edits = [known_words(collection, one) for one in edits]
        outline = _applied(collection, edits)
        state, parts, known = replace(collection.state, shape=outline), list[Part](), dict[str, Any]()
        fits = refit and (outline.pending or not edits)
        if fits:
            state, parts, known = fitted(collection, generation, outline, verbose=verbose, watching=watching)
        else:
            if (outline.titles, outline.ignored) != (collection.outline.titles, collection.outline.ignored):
                state = replace(state, shape=labelled(outline, collection.description, _still(collection, outline)))
            if outline.pins != collection.outline.pins:
                state, parts = _held(collection, generation, state)
        body: dict[str, Any] = {"edits": [to_entry(one) for one in edits], "topics": _meant(collection.outline, edits)}
        if fits:
            body |= {FITTED: True, **known}
            body |= {} if edits or after is None else _of_edit(generation, after)
        edit_log.record(generation.database, EDIT if edits else REFIT, body, state.to_dict(), parts=parts)
    collection.refresh()


def _of_edit(generation: Generation, number: int) -> dict[str, Any]:
    """What a fit says of the edit that it was asked for with; nothing where that is not the last step."""
    last = last_step(generation)
    if last.number != number or last.kind != EDIT:
        return {}
    return {WITH: number, "edits": last.body["edits"], "topics": last.body.get("topics")}


def _still(collection: Collection, outline: Shape) -> frozenset[int]:
    """Nodes that are called as they were: all but those whose name, or a word of it, somebody took away."""
    bare = collection.outline.titles.keys() - outline.titles.keys()
    return frozenset(
        node
        for node, topic in enumerate(outline.topics)
        if topic not in bare and not says(outline.name(topic), outline.ignored)
    )


def _held(collection: Collection, generation: Generation, state: State) -> tuple[State, list[Part]]:
    """Pinned documents lie under their topics before any fit; those of a topic that is new wait for it."""
    rows = {name: row for row, name in enumerate(collection.documents.ids())}
    shares = with_pins(collection.shares, state.shape, rows)
    if shares is collection.shares:
        return state, []
    with new_part(generation, SHARES) as part:
        contents.write_matrix(part.folder, shares)
    return state.with_pieces(SHARES, [part.name]), [part.part]


def undo(collection: Collection, *, wait: float = 0.0, expected: str | None = None) -> str:
    """Take the last step that still holds back: the state before it is the state now, to the last bit."""
    collection.refresh()
    check_expected(collection, expected)  # before there may be nothing to take back
    if last_step(collection.generation).kind == ADD:
        from topiarist.collection.remove.unadding import take_addition_back

        return told(take_addition_back(collection, wait=wait, expected=expected))
    with collection.folder.writing(wait=wait) as generation:
        collection.refresh()
        check_expected(collection, expected)
        last = last_step(generation)
        if last.kind == REMOVE:
            _brought_back(collection, generation, last)
        else:
            first = _first_of(generation, last)
            also = {} if first is last else {WITH: first.number}
            edit_log.record(generation.database, UNDO, {"edit": last.number, **also}, first.before)  # type: ignore[arg-type]
    collection.refresh()
    if last.kind == REMOVE:
        from topiarist.collection.describe.problem_list import write_problem_list

        write_problem_list(collection)
    return told(last)


def _first_of(generation: Generation, last: edit_log.Edit) -> edit_log.Edit:
    """Where a step begins: a fit that was asked for with an edit begins with it, if what was before that is kept."""
    number = last.body.get(WITH)
    if number is None:
        return last
    found = [one for one in edit_log.history(generation.database, until=number + 1, limit=1) if one.number == number]
    return found[0] if found and _is_kept(generation, found[0]) else last


def _brought_back(collection: Collection, generation: Generation, last: edit_log.Edit) -> None:
    """The generation that had the removed documents is the collection again, with what people said since of the others.

    Its log tells of the removal and that it was taken back. Killed before the end, it can be done again.
    """
    name = str(last.body[GENERATION])
    collection.folder.at_generation(name).close()  # an error where it is gone
    then = Generation.open(collection.folder.path / name, collection.folder.shown, write=True)
    try:
        carry_marks_back(generation.database, then.database)
        carry_back(generation.database, then.database)
        now = edit_log.latest(then.database)
        newest = edit_log.history(then.database, limit=2)
        if now is not None and [one.kind for one in newest] != [UNDO, REMOVE]:
            with then.database.transaction():
                edit_log.record(then.database, REMOVE, last.body, now, time=last.time)
                number = edit_log.history(then.database, limit=1)[0].number
                edit_log.record(then.database, UNDO, {"edit": number}, now)
    finally:
        then.close()
    known = collection.folder.manifest
    collection.folder.go_to(Manifest(name, kept=tuple(one for one in known.kept if one != name)))


def check_expected(collection: Collection, expected: str | None) -> None:
    """An error where somebody has changed the tree since ``expected`` was the state."""
    if expected is not None and expected != mark(collection):
        raise ChangedError("somebody has changed the tree since this page was made", hint="reload it, and try again")


def last_step(generation: Generation) -> edit_log.Edit:
    """The newest step that was not taken back. What was before the last few additions of documents is let go."""
    undone = set[int | None]()
    for entry in edit_log.walk(generation.database):
        if entry.kind == UNDO:
            undone.update((entry.body["edit"], entry.body.get(WITH)))
        elif entry.before is None:
            break
        elif entry.number not in undone:
            if entry.kind in UNDOABLE and _is_kept(generation, entry):
                return entry
            why = "that is its purpose" if entry.kind == FORGET else "what was before it is kept no more"
            raise UsageError(
                f"the last step ({told(entry)}) cannot be undone, and so nothing before it: {why}. "
                "Names, merges and pins can be changed by other edits, and documents removed",
                hint=f"topiarist shape {generation.shown} rename TOPIC NAME; a copy of the folder made before goes "
                "back further",
            )
    raise UsageError("there is nothing to undo", hint=f"topiarist shape {generation.shown} --log shows what was done")


def _is_kept(generation: Generation, entry: edit_log.Edit) -> bool:
    """Whether what was before a step can be come back to."""
    if entry.kind == REMOVE:
        return (generation.folder.parent / str(entry.body[GENERATION]) / DATABASE).is_file()
    return entry.before in edit_log.remembered(generation.database)


def told(entry: edit_log.Edit, *, numbers: bool = True) -> str:
    """An entry of the log in a few words: as it was typed, or as it is said, with names for ``numbers`` of topics."""
    if entry.kind == UNDO:
        return f"undo of {entry.body['edit']}"
    if entry.kind != EDIT and not (entry.kind == REFIT and entry.body.get("edits")):
        number = entry.body.get("documents", 0)
        some = entry.body.get("said") or f"{number:,} document{'' if number == 1 else 's'}"
        known = {
            "grow": "grown", "add": f"{some} added", REMOVE: f"{some} removed", FORGET: f"{some} forgotten for good",
            LEARN: "categories learned", REFIT: _fit_told(entry),
        }  # fmt: skip
        return known.get(entry.kind, entry.kind)
    meant = entry.body.get("topics") or [{}] * len(entry.body["edits"])
    says = to_words if numbers else to_sentence
    edits = "; ".join(
        says(named_as(edit_from(one), _names(known), numbers=numbers))
        for one, known in zip(entry.body["edits"], meant, strict=True)
    )
    return edits if entry.kind == EDIT else f"{edits}; {_fit_told(entry)}"


def in_words(database: Database, entry: edit_log.Edit) -> str:
    """An entry of the log as pages say it; an undo with what it took back."""
    if entry.kind != UNDO:
        return told(entry, numbers=False)
    number = entry.body["edit"]
    taken = [one for one in edit_log.history(database, until=number + 1, limit=1) if one.number == number]
    return f"undo: {told(taken[0], numbers=False)}" if taken else "undo"


def stopped_after(entry: edit_log.Edit) -> int | None:
    """After how many iterations somebody stopped a fit; None if it went to its end."""
    return int(entry.body[ITERATIONS]) if entry.body.get(STOPPED) == INTERRUPTED else None


def _fit_told(entry: edit_log.Edit) -> str:
    steps = stopped_after(entry)
    return "fitted again" if steps is None else f"fitted again, stopped after {steps} iteration{'s' * (steps != 1)}"


def _names(meant: Mapping[str, Any]) -> dict[str, str]:
    """What the topics of an edit were called then, by the words that somebody typed for them."""
    return {said: str(one["name"]) for said, one in meant.items()}


def _meant(shape: Shape, edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """The topics that each edit speaks of: their numbers, and what they were called then."""
    found = []
    for one in edits:
        known = {}
        for said in spoken_of(one):
            topic = shape.find(said)
            known[str(said)] = {"topic": topic, "name": shape.name(topic)}
        found.append(known)
        shape = apply(shape, one)
    return found


def _applied(collection: Collection, edits: Sequence[Edit]) -> Shape:
    shape = collection.outline
    for one in edits:
        if isinstance(one, Pin | Branch):
            for document in one.documents:
                collection.documents.row_of(document)  # an error that proposes the nearest id
        shape = apply(shape, one)
    return shape


def fitted(
    collection: Collection,
    generation: Generation,
    shape: Shape,
    *,
    verbose: bool = False,
    watching: Watching | None = None,
    anew: bool = False,
) -> tuple[State, list[Part], dict[str, Any]]:
    """The state after a fit of the shaped tree, the parts that are new in it, and how the fit ended.

    ``anew``: nothing in words is taken from before: not the names of topics, nor the words that people search by.
    """
    counting, row_of = collection.counting_of(shape), {name: row for row, name in enumerate(collection.documents.ids())}
    counts = counting.heeded(collection.all_counts)
    begun = start(shape, collection.tree_model.class_nodes, collection.shares, counts, row_of)
    grown = TREE_MODELS.get(collection.state.model)  # none for a tree that came with its labels
    kind = HPLC if grown is None or grown.mixes else HierarchicalMixture
    rows = fitted_rows(collection.copies, len(collection), np.flatnonzero(begun.pins >= 0).tolist())
    shares, pins = (begun.shares, begun.pins) if rows is None else (begun.shares[rows], begun.pins[rows])
    with refit_counts(counts, rows, generation.folder) as some:
        model = refit(
            kind(shape.tree, verbose=int(verbose)), some, begun.class_nodes, shares, pins, watching,
            seeds=seed_columns(shape, counting.vocabulary),
        )  # fmt: skip
    if watching is not None:
        watching.finishing()
    vectors, weight = collection.vectors, getattr(collection.model, "concentration_", 0.0)
    if vectors is not None and weight:
        known_counts, known_vectors = (counts, vectors) if rows is None else (counts[rows], vectors[rows])
        learn_directions(model, known_counts, known_vectors, weight)
    corpus = corpus_of(generation, counts, counting)
    known = collection.description.facts
    holds = {name: known[name] for name in ("curve", "familiar") if name in known}
    if anew:
        holds["familiar"] = familiar(generation, counting)
    fit = keep_fit(
        generation, model, corpus, counting, holds,
        copies=collection.copies, pinned=lambda shares: _with_pins(shares, begun), shape=shape,
        vectors=vectors,
    )  # fmt: skip
    whole = replace(corpus, counts=collection.all_counts)  # who searches may use any word
    flat = collection.part(collection.state.parts[FLAT])
    before = None if anew else collection.part(collection.state.parts[SEARCH])
    search = index_part.write_index(generation, model, flat, whole, before=before)
    class_topics = tuple(shape.topics[node] for node in begun.class_nodes)
    fresh = replace(shape, class_topics=class_topics, node_topics=shape.topics, grafted=frozenset(), pending=False)
    steady = frozenset() if anew else stayed(fresh, fit.shares, collection.outline, collection.shares)
    state = fit.in_state(replace(collection.state, shape=labelled(fresh, fit.description, steady)))
    return (
        state.with_part(SEARCH, search.name),
        [*fit.parts, search],
        {ITERATIONS: int(model.n_iter_), STOPPED: model.stopped_},
    )


def _with_pins(shares: Csr, begun: Start) -> Csr:
    """What the model says of documents that may move; the others are where they belong."""
    pinned = np.flatnonzero(begun.pins >= 0)
    if not len(pinned):
        return shares
    ones = (np.ones(len(pinned), shares.dtype), (pinned, begun.pins[pinned]))
    return contents.with_rows(shares, begun.pins >= 0, csr_array(ones, shape=shares.shape))


def with_pins(shares: Csr, shape: Shape, rows: Mapping[str, int]) -> Csr:
    """The shares with pinned documents wholly under their topics.

    Among the classes of its topic, or of those below it, a document keeps the proportions that it had, and goes to
    the class that comes first where it had none. A topic that was made since the last fit has no class: its documents
    wait.
    """
    mask = shape.tree.path_mask(shape.class_nodes)
    places, columns, values = list[int](), list[int](), list[float]()
    for document, topic in shape.pins.items():
        if document not in rows:
            continue
        classes = np.flatnonzero(mask[:, shape.node(topic)])
        own = np.flatnonzero(np.array(shape.class_topics) == topic)
        classes = own if len(own) else classes
        if not len(classes):
            continue
        share = shares[[rows[document]]].toarray().ravel()[classes]
        share = share / share.sum() if share.sum() > 0 else np.eye(1, len(classes)).ravel()
        places.extend([rows[document]] * len(classes))
        columns.extend(classes.tolist())
        values.extend(share.tolist())
    if not places:
        return shares
    where = np.zeros(shares.shape[0], bool)
    where[places] = True
    put = csr_array((np.array(values, shares.dtype), (places, columns)), shape=shares.shape)
    return contents.with_rows(shares, where, put)
