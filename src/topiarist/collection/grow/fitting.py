"""Fit stage of a grow: one tree, trees of several languages that are joined, or a given hierarchy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import Floats, Ints
from topiarist.collection import contents
from topiarist.collection.contents import Counting
from topiarist.collection.copies import load_duplicates, select_fitted_rows
from topiarist.collection.describe.flat_topics import check_documents
from topiarist.collection.document_vectors import are_word_vectors, describe_unknown_language, load_vectors
from topiarist.collection.grow import inheritance, language_trees, short_texts
from topiarist.collection.grow.block_growth import BlockGrowth
from topiarist.collection.grow.checkpoints import CheckpointJournal
from topiarist.collection.grow.document_counts import READ
from topiarist.collection.grow.fit_description import open_corpus
from topiarist.collection.grow.language_trees import Branch, JoinedTrees
from topiarist.collection.grow.recipe import JOINED, Recipe
from topiarist.collection.grow.state import GrowOptions, GrowState
from topiarist.collection.shape.tree_state import TreeState
from topiarist.counts.column_map import ColumnMap
from topiarist.counts.corpus import Corpus
from topiarist.counts.languages import Languages
from topiarist.errors import InputError
from topiarist.estimators.category.categorisers import HPLC
from topiarist.estimators.category.given_labels import NamedColumns
from topiarist.estimators.common.options import working_dtype
from topiarist.estimators.tree.fitted_tree import learn_directions
from topiarist.estimators.tree.preparation import TILE_COLUMNS
from topiarist.estimators.tree_models import TREE_MODELS
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.storage import facts
from topiarist.storage.generation import open_part
from topiarist.text.language import language_name
from topiarist.trees.growth.loop import Journal
from topiarist.trees.tree import Tree

KERNELS = ("paths", "classes", "search")  # compiled for growth and indexing
WORDS = "words"  # setting: ignored and united words of the collection that is replaced
CONCENTRATION = 40.0  # of the embeddings, for trees that were grown from words alone
ONLINE_SAMPLE, ONLINE_BATCH = 20_000, 10_000  # documents of the first tree, and of each batch after it


@dataclass(frozen=True)
class TrainingData:
    """Counts and embeddings of a grow.

    ``documents`` has all words, ``corpus`` the columns that the tree sees. ``rows`` are the documents without
    duplicates; None for all. ``hidden`` are the columns that the tree must not see.
    """

    documents: Corpus
    corpus: Corpus
    counting: Counting
    languages: Languages
    shape: TreeState
    hidden: Sequence[int]
    rows: Ints | None
    vectors: Floats | None
    blocks: BlockGrowth | None

    @property
    def fitted_vectors(self) -> Floats | None:
        """The embeddings of the documents that the model is fitted to."""
        return self.vectors if self.rows is None or self.vectors is None else self.vectors[self.rows]


@dataclass(frozen=True)
class FittedModel:
    """A fitted model; ``joined`` if the trees of several languages were joined."""

    model: Any
    joined: JoinedTrees | None = None


def load_counts(state: GrowState) -> TrainingData:
    """Load the counts with word edits, the rows to fit, and embeddings, which are computed if missing."""
    generation, options, database = state.generation, state.options, state.database
    settings = facts.settings(database)
    folder = open_part(generation, settings[READ])
    counting = contents.read_counting(folder)
    documents = open_corpus(generation, contents.read_matrix(folder), counting)
    shape = inheritance.add_word_edits(TreeState.from_tree(Tree.single(), ()), settings.get(WORDS, {}))
    columns = ColumnMap.of(documents.vocabulary, shape.ignored, shape.united)
    corpus = replace(documents, counts=columns.apply(documents.counts, state.scratch))
    rows = select_fitted_rows(load_duplicates(database), corpus.n_docs)
    blocks = options.blocks
    if blocks is None:
        blocks = BlockGrowth.for_many(state.recipe, options.vectors, corpus.n_docs if rows is None else len(rows))
    sizes = {"documents": corpus.n_docs, "words": corpus.n_words, "nonzeros": corpus.counts.nnz}
    options.reporter.show_sizes({**sizes, "in_blocks": blocks is not None})
    source = options.vectors
    if source is not None and (unknown := describe_unknown_language(source, facts.languages(database))):
        options.reporter.add_note(unknown)
        source = None
    elif source is not None:
        options.reporter.begin_phase("Bringing vectors")
    languages, hidden = contents.read_languages(folder), np.flatnonzero(columns.is_remapped).tolist()
    vectors = load_vectors(generation, source, corpus.n_docs, options.reporter.add_note)
    if options.vectors is None and vectors is None and blocks is None:
        encoder = short_texts.choose_word_encoder(state, replace(counting, map=columns), corpus, languages, rows)
        vectors = load_vectors(generation, encoder, corpus.n_docs)  # the fit reports them
    return TrainingData(documents, corpus, counting, languages, shape, hidden, rows, vectors, blocks)


def fit_tree(state: GrowState, data: TrainingData) -> FittedModel:
    """Grow the tree by words and vectors, from its last checkpoint if there is one; store new checkpoints."""
    recipe, reporter = state.recipe, state.options.reporter
    dtype = working_dtype(None, data.corpus.counts, TILE_COLUMNS)
    prepare_kernels(dtype, *KERNELS, notice=reporter.begin_phase, device=state.options.device)
    reporter.begin_phase("Growing the tree")
    journal = CheckpointJournal(state.generation, reporter)
    blocks = None if data.blocks is None else replace(data.blocks, folder=state.generation.folder)
    options, vectors = replace(state.options, blocks=blocks), data.fitted_vectors
    fit = _fit_languages(recipe, options, data, journal)
    if fit is None:
        fit = FittedModel(fit_model(recipe, options, data.corpus, journal, data.hidden, vectors, data.rows))
    elif vectors is not None:  # the joined tree was grown from words
        learn_directions(fit.model, _select_rows(data.corpus, data.rows).counts, vectors, CONCENTRATION)
    if vectors is not None:
        reporter.add_note(_describe_vector_weight(fit.model, state))
    return fit


def fit_model(
    recipe: Recipe,
    options: GrowOptions,
    corpus: Corpus,
    journal: Journal | None = None,
    hidden: Sequence[int] = (),
    vectors: Floats | None = None,
    rows: Ints | None = None,
    *,
    keep_posteriors: bool = False,
) -> Any:
    """Return the fitted model of a corpus without general words.

    ``hidden`` are columns that the model must not see. ``rows`` are the documents that it is fitted to, and ``vectors``
    their embeddings. A model from blocks has no posteriors of documents, unless ``placed``.
    """
    if options.blocks is None:
        corpus, rows = _select_rows(corpus, rows), None
    check_documents(corpus, recipe.topics, "topics")
    if recipe.hierarchy is not None:
        with _report_warnings(options):
            categoriser = _fit_hierarchy(corpus, recipe.hierarchy, _collect_common_parameters(recipe, options))
        return _learn_directions(categoriser, corpus, vectors)
    kind = TREE_MODELS[recipe.model]
    data = {"vectors": vectors} if kind.accepts_vectors else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_cl(usters|asses)=", UserWarning)  # the facts of the fit report it
        model = _create_estimator(recipe, options, hidden)
        if recipe.online:
            return _learn_directions(_fit_online(model, corpus, data), corpus, vectors)
        if options.blocks is not None:
            with options.blocks.blocks(corpus.counts, rows) as store:
                options.reporter.add_note(options.blocks.describe(store))
                model.set_params(executor=options.blocks.executor(store))
                with _report_warnings(options):
                    model.fit(store, journal=journal, keep_posteriors=keep_posteriors)
            return model.set_params(executor=None)
        fitted = model.fit(corpus.counts, **data, **({"journal": journal} if kind.resumes else {}))
        return _learn_directions(fitted, corpus, vectors)


def _fit_languages(recipe: Recipe, options: GrowOptions, data: TrainingData, journal: Journal) -> FittedModel | None:
    """Return the joined trees of several languages; None for one language."""
    parts, reporter = language_trees.group_rows(data.languages, data.rows), options.reporter
    if recipe.hierarchy is None and (small := language_trees.describe_small_languages(data.languages)):
        reporter.add_note(small)
    if len(parts) < 2 or recipe.hierarchy is not None:
        return None
    if recipe.model != JOINED or recipe.online:
        reporter.add_note("Languages divide this tree first: only the model cam, and not online, grows them together")
        return None
    corpus = _select_rows(data.corpus, data.rows)
    parts = language_trees.join_wordless(parts, corpus.counts)
    if len(parts) < 2:
        return None
    topics = language_trees.divide_topics(recipe.topics, [len(rows) for _, rows in parts])
    branches = list[Branch]()
    for (code, rows), number in zip(parts, topics, strict=True):
        reporter.add_note(f"Growing {language_name(code)}: {len(rows):,} documents")
        first = None if branches else journal
        model = fit_model(
            replace(recipe, topics=number), options, corpus.subset(rows), first, data.hidden, keep_posteriors=True
        )
        branches.append(Branch(code, rows, model))
    estimator = _create_estimator(recipe, options, data.hidden)
    joined = language_trees.join_trees(recipe.languages, estimator, branches, corpus.counts, corpus.vocabulary.words)
    reporter.add_note(joined.summary)
    return FittedModel(joined.model, joined)


def _create_estimator(recipe: Recipe, options: GrowOptions, hidden: Sequence[int]) -> Any:
    """Return an unfitted estimator for a recipe, with the options that its model accepts."""
    kind, parameters = TREE_MODELS[recipe.model], _collect_common_parameters(recipe, options)
    if len(kind.devices) > 1:
        parameters["device"] = options.device
    if len(kind.growths) > 1:
        parameters["growth"] = recipe.growth
    if recipe.topic_mix is not None:
        parameters["topic_mix"] = recipe.topic_mix
    if kind.headings:
        parameters["headings"] = recipe.headings
    if kind.accepts_word_lists and hidden:
        parameters["ignore_words"] = list(hidden)
    return kind.load()(recipe.topics, **parameters)


def _collect_common_parameters(recipe: Recipe, options: GrowOptions) -> dict[str, Any]:
    return {"random_state": recipe.seed, "n_threads": options.n_threads, "verbose": int(options.verbose)}


@contextmanager
def _report_warnings(options: GrowOptions) -> Iterator[None]:
    """Report the warnings of a fit as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        options.reporter.add_note(str(warning.message))


def _select_rows(corpus: Corpus, rows: Ints | None) -> Corpus:
    return corpus if rows is None else corpus.subset(rows)


def _learn_directions(model: Any, corpus: Corpus, vectors: Floats | None) -> Any:
    """Return the model with directions of its classes if documents have embeddings that it has not learned from."""
    if vectors is not None and not hasattr(model, "directions_"):
        learn_directions(model, corpus.counts, vectors, CONCENTRATION)
    return model


def _describe_vector_weight(model: Any, state: GrowState) -> str:
    """Return a sentence on whether words, vectors or both decide the topics."""
    is_bundled = are_word_vectors(facts.settings(state.database))
    if getattr(model, "directions_", None) is None:
        if is_bundled:
            return "The texts are short, but words alone decide: held-out words are more likely without word vectors"
        return "The vectors are not used: held-out words are more likely without them"
    if is_bundled:
        return "The texts are short and English: bundled word vectors decide with the words (without: --vectors none)"
    return f"Vectors and words decide together: agreement with a topic counts up to {model.concentration_:g} nats"


def _fit_online(model: Any, corpus: Corpus, data: dict[str, Any]) -> Any:
    """Fit a model to a sample, then continue with the remaining documents in batches of random order."""
    order = np.random.default_rng(0).permutation(corpus.n_docs)
    first = np.sort(order[:ONLINE_SAMPLE])
    model.fit(corpus.counts[first], **{name: None if value is None else value[first] for name, value in data.items()})
    for start in range(ONLINE_SAMPLE, corpus.n_docs, ONLINE_BATCH):
        model.partial_fit(corpus.counts[np.sort(order[start : start + ONLINE_BATCH])])
    return model


def _fit_hierarchy(corpus: Corpus, tree: Tree, parameters: dict[str, Any]) -> HPLC:
    """Fit a given hierarchy to the documents whose labels are names in it."""
    names = set(tree.names)
    labels = [
        [label for label in document_labels if label in names or "/" in label] for document_labels in corpus.labels
    ]
    if not any(labels):
        examples = sorted({label for document_labels in corpus.labels for label in document_labels})[:5]
        raise InputError(
            "no document has a label that is a name of the hierarchy",
            hint=f"Choose another column of labels (--label-column). This one has {', '.join(examples)}."
            if examples
            else "Name a column of labels (--label-column) or a table (--labels FILE).",
        )
    if max(map(len, labels)) < 2:
        y: Any = [document_labels[0] if document_labels else None for document_labels in labels]
    else:
        from sklearn.preprocessing import MultiLabelBinarizer

        binary = MultiLabelBinarizer()
        y = NamedColumns(binary.fit_transform(labels), tuple(binary.classes_))
    model: HPLC = HPLC(tree, calibrate=True, **parameters).fit(corpus.counts, y)
    return model
