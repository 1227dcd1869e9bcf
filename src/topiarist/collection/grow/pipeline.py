"""Pipeline of a grow: read, inspect, count, fit, describe, index and publish.

What a stage has finished is in the folder ``growing`` of the collection. A killed grow resumes after the count, with
the last checkpoint of its tree. Readers see the new collection only after it is published.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.arrays import Ints
from topiarist.collection import contents
from topiarist.collection.collection import Collection
from topiarist.collection.copies import load_duplicates, select_fitted_rows
from topiarist.collection.describe.nodes import visible_tree
from topiarist.collection.document_vectors import adapt_word_encoder, are_word_vectors, with_vectors
from topiarist.collection.grow import inheritance
from topiarist.collection.grow.allowed_folders import PLACES, grant_originals
from topiarist.collection.grow.checkpoints import checkpoint_names
from topiarist.collection.grow.document_counts import READ, READ_MINIMA, count_documents, inspect_documents
from topiarist.collection.grow.fit_description import compute_familiarity_limits, save_fit
from topiarist.collection.grow.fitting import WORDS, FittedModel, TrainingData, fit_tree, load_counts
from topiarist.collection.grow.made_with import (
    IN_BLOCKS,
    LAST_STAGE,
    MADE_FROM,
    MADE_WITH,
)
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.sources import name_sources, read_sources
from topiarist.collection.grow.state import GrowOptions, GrowState
from topiarist.collection.search import index_part
from topiarist.collection.shape.kept_names import NameChanges
from topiarist.collection.shape.tree_state import TreeState
from topiarist.collection.state import COUNTS, FLAT, MINIMA, SEARCH, TREE, State
from topiarist.errors import DamagedError, InputError, UsageError
from topiarist.estimators.tree.fitted_tree import builds_headings, get_tree_model
from topiarist.estimators.tree.topic_certainty import calibrate_topics
from topiarist.estimators.tree_models import TREE_MODELS
from topiarist.storage import edit_log, facts
from topiarist.storage.collection_folder import (
    GROWING,
    begin_generation,
    create_unfinished_error,
    is_collection,
    sweep_parts,
)
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import Part, open_part
from topiarist.storage.sealed_folder import MANIFEST
from topiarist.text.documents import Document
from topiarist.trees.edits import rename

STOPPED, INTERRUPTED = "stopped", "interrupted"  # facts of a tree whose growth a user stopped

Parts = tuple[Part, ...]


def grow_collection(
    source: str | os.PathLike[str] | Iterable[Document | str],
    folder: str | os.PathLike[str],
    recipe: Recipe,
    options: GrowOptions | None = None,
    *,
    force: bool = False,
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Collection:
    """Grow a collection in a folder from documents; ``settings`` are stored with it."""
    options = options or GrowOptions()
    if options.blocks is not None:
        options.blocks.check(recipe, options.vectors)
    stored = {"recipe": recipe.to_dict(), **name_sources(source), **(settings or {}), MADE_WITH: options.environment}
    if words := inheritance.read_word_edits(os.fspath(folder)):
        stored[WORDS] = words
    with begin_generation(folder, force=force, resume=resume) as growing:
        state = GrowState(recipe, options, growing, stored)
        try:
            if _is_counted(state):
                options.reporter.add_note("Resuming after the count")
                _note_environment(state)
            else:
                reading = read_sources(state, source)
                count_documents(state, reading, inspect_documents(state, reading))
                del reading
            collection_state, parts = _finish_tree(state)
        except (InputError, UsageError):  # a resumed grow would fail again
            growing.discard()
            raise
        return publish(state, collection_state, parts)


def _is_counted(state: GrowState) -> bool:
    """Return whether an unfinished grow has counted all documents.

    Raise UsageError if its sources or its recipe differ.
    """
    settings = facts.settings(state.database)
    if not settings.get(READ):
        return False
    same_source = settings.get(MADE_FROM) == state.settings.get(MADE_FROM)
    if same_source and settings.get("recipe") == state.settings["recipe"]:
        return True
    raise UsageError(
        f"the unfinished grow at {state.generation.display_path} was begun with other settings or files",
        hint="Pass the same options as before, or --force to start again.",
    )


def _note_environment(state: GrowState) -> None:
    """Store the present environment and report if a grow resumes in another one."""
    database, settings = state.database, facts.settings(state.database)
    before, now = settings.get(LAST_STAGE, settings[MADE_WITH]), state.options.environment
    names = [name for name, value in now.items() if before.get(name) != value]
    if edit_log.current(database) is not None or not names:  # complete but not published, or the same
        return
    facts.change_settings(database, {LAST_STAGE: now})
    if not checkpoint_names(database):  # an allowance of memory changes a tree that has begun
        names = [name for name in names if name != IN_BLOCKS]
    if names:
        values = ", ".join("allowance of memory" if name == IN_BLOCKS else name for name in names)
        state.options.reporter.add_note(f"Resuming with another {values}: one run might have given another tree")


def _finish_tree(state: GrowState) -> tuple[State, Parts]:
    """Fit, describe and index; return the state and its parts, or the state that a stopped grow completed."""
    complete = edit_log.current(state.database)
    if complete is not None:
        return State.from_dict(complete[1]), ()
    data = load_counts(state)
    fit = fit_tree(state, data)
    state_with_topics, parts = describe_topics(state, data, fit)
    return index_documents(state, data, fit, state_with_topics, parts)


def describe_topics(state: GrowState, data: TrainingData, fit: FittedModel) -> tuple[State, Parts]:
    """Write the model, the shares, and the names and words of all topics; return the state and its parts."""
    generation, recipe = state.generation, state.recipe
    state.options.reporter.begin_phase("Describing the topics")
    facts_known: dict[str, Any] = {"familiar": compute_familiarity_limits(generation, data.counting)}
    embed = None
    if data.vectors is not None and are_word_vectors(facts.settings(state.database)):
        embed = adapt_word_encoder(data.counting, data.corpus.counts, data.vectors, data.rows).embed_counts
    calibration = calibrate_topics(fit.model, data.corpus.counts, data.rows, state.options.n_threads, embed)
    if calibration is not None:
        facts_known["certainty"] = list(astuple(calibration))
    if fit.joined is not None:
        facts_known["reason"] = f"{len(fit.model.tree_.leaves):,} topics: {fit.joined.summary}"
    saved = save_fit(
        generation, fit.model, data.corpus, data.counting, facts_known,
        copies=load_duplicates(state.database), training=_find_training_rows(state, data, fit),
        n_threads=state.options.n_threads, shape=data.shape, vectors=data.vectors,
    )  # fmt: skip
    fitted = get_tree_model(fit.model)
    languages = fit.joined.names if fit.joined is not None else {}
    named = (languages or None) if builds_headings(fit.model) else ()
    tree = visible_tree(fitted.tree, saved.description.nodes, named)
    shape = TreeState.from_edit(tree, len(fitted.tree), fitted.class_nodes)
    shape = replace(shape, ignored=data.shape.ignored, united=data.shape.united)
    for node, name in languages.items():
        topic = shape.node_topics[node]
        renamed = rename(shape.tree, shape.node(topic), name).tree
        shape = replace(shape, tree=renamed, titles={**shape.titles, topic: name})
    return saved.in_state(State(shape, {}, data.corpus.n_docs, recipe.model)), saved.parts


def _find_training_rows(state: GrowState, data: TrainingData, fit: FittedModel) -> Ints | None:
    """Return the rows of the documents whose posteriors the model has; None if it has none."""
    recipe, n_docs = state.recipe, data.corpus.n_docs
    by_words = recipe.hierarchy is not None or fit.joined is not None or not TREE_MODELS[recipe.model].accepts_vectors
    if data.blocks is not None or recipe.online or (data.vectors is not None and by_words):
        return None
    rows = select_fitted_rows(load_duplicates(state.database), n_docs)
    return np.arange(n_docs) if rows is None else rows


def index_documents(
    state: GrowState, data: TrainingData, fit: FittedModel, state_with_topics: State, parts: Parts
) -> tuple[State, Parts]:
    """Write the indexes of words and of meaning; return the state with them and all parts."""
    generation, reporter, documents = state.generation, state.options.reporter, data.documents
    reporter.begin_phase("Indexing")
    reporter.show_detail("the words of all texts")
    Documents(state.database).index()
    reporter.show_detail("topics in fine, for a search by meaning")
    n_threads, settings = state.options.n_threads, facts.settings(state.database)
    flat = index_part.write_flat(generation, documents, n_threads, data.rows)  # a query may have any word
    reporter.show_detail(f"{documents.n_docs:,} documents by meaning")
    indexer = None if data.blocks is None else data.blocks.cluster_indexer(open_part(generation, settings[READ]))
    folder = generation.folder / flat.name
    search = index_part.write_index(generation, fit.model, folder, documents, n_threads, indexer=indexer)
    reporter.show_detail(f"{documents.n_docs:,} documents, by words and by meaning")
    indexed = state_with_topics.with_part(FLAT, flat.name)
    indexed = indexed.with_pieces(COUNTS, [settings[READ]]).with_pieces(MINIMA, [settings[READ_MINIMA]])
    return with_vectors(generation, indexed).with_part(SEARCH, search.name), (*parts, flat, search)


def publish(state: GrowState, collection_state: State, parts: Parts) -> Collection:
    """Record the grow with inherited user edits, replace the old collection and open the new one."""
    database, generation = state.database, state.generation
    if edit_log.current(database) is None:
        with database.transaction():
            inherited, changes = _inherit_edits(state, collection_state)
            body = {"model": collection_state.model, "carried": inherited.shape != collection_state.shape}
            body |= changes.to_dict()
            if _was_interrupted(state, collection_state):
                body[STOPPED] = INTERRUPTED
            if state.options.blocks is not None:
                body[IN_BLOCKS] = state.options.environment[IN_BLOCKS]
            edit_log.record(database, "grow", body, inherited.to_dict(), parts=list(parts))
    edit_log.drop(database, checkpoint_names(database))
    sweep_parts(generation)
    folder = state.growing.publish()
    grant_originals(folder.path, state.settings.get(PLACES, ()))
    return Collection(folder)


def _was_interrupted(state: GrowState, collection_state: State) -> bool:
    description = contents.read_description(state.generation.folder / collection_state.parts[TREE])
    return description.facts.get(STOPPED) == INTERRUPTED


def _inherit_edits(state: GrowState, collection_state: State) -> tuple[State, NameChanges]:
    """Return the state with user edits of the replaced collection and the changed names; report notes."""
    old = inheritance.open_previous(os.fspath(state.growing.path))
    changes = NameChanges()
    if old is None:
        return collection_state, changes
    try:
        collection_state, notes, changes = inheritance.inherit_edits(
            old, state.generation, collection_state, rename=state.recipe.hierarchy is None
        )
    except DamagedError:
        notes = ("The edits of the previous collection cannot be read and are not transferred",)
    finally:
        old.close()
    for sentence in notes:
        state.options.reporter.add_note(sentence)
    return collection_state, changes


def find_same_collection(folder: str, made_from: str | None, *, resume: bool) -> Collection | None:
    """Open the collection if the same grow made it; None to grow; raise UsageError for another one."""
    root = Path(folder)
    if not is_collection(root):
        return None
    if not (root / MANIFEST).is_file():
        if not resume:
            raise create_unfinished_error(folder)
        return None
    try:
        collection = Collection.open(folder)
    except DamagedError as error:
        raise DamagedError(error.message, hint=f"{error.hint} Pass --force to replace it.") from None
    if made_from is not None and collection.settings.get(MADE_FROM) == made_from:
        if collection.tree.stopped != "interrupted":
            return collection
        raise UsageError(
            f"{folder} holds the tree of a grow that was stopped early", hint="Pass --force to grow it to the end."
        )
    if resume and (root / GROWING).is_dir():
        return None
    raise UsageError(
        f"there is a collection at {folder} already, from other files or with other settings",
        hint="Pass --force to replace it, or another folder with -o.",
    )


def describe_stopped(folder: str) -> str:
    """Return a sentence on what a stopped grow leaves in a folder."""
    if (Path(folder) / GROWING).is_dir():
        return f"The finished part is in {folder}. Run the same command with --resume to continue."
    if (Path(folder) / MANIFEST).is_file():
        return f"The previous collection in {folder} is unchanged."
    return "Nothing was kept."
