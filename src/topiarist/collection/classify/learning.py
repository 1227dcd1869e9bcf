"""Category learning: from the labels of documents to a fitted classifier with its quality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection import contents
from topiarist.collection.classify.filing import predict_rows
from topiarist.collection.classify.judgements import LEAVE, Judgements
from topiarist.collection.classify.label_sources import (
    are_own_labels,
    find_default_column,
    list_label_columns,
    load_labels,
)
from topiarist.collection.classify.predictions import (
    Categories,
    PredictedLabels,
    collect_heldout,
    compute_accuracy_interval,
    sample_rows,
)
from topiarist.collection.classify.word_labels import fit_word_model, list_label_words
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.passages import parent_ids
from topiarist.collection.shape.history import LEARN, find_learning
from topiarist.collection.state import CATEGORIES
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.estimators.category.category_learner import CategoryLearner
from topiarist.metrics.label_agreement import example_f1
from topiarist.progress import ProgressReporter
from topiarist.storage import edit_log
from topiarist.storage.generation import new_part
from topiarist.trees.tree import Tree

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

MIN_DOCUMENTS_PER_LABEL = 2  # documents, unless most labels have only one
DEFAULT_HOLDOUT = 0.2  # share of the labelled documents
MAX_COLUMNS = 2  # columns that an error message lists
NO_PROGRESS, N_STEPS = ProgressReporter(), 3  # steps: the fit that is measured, the final fit, and the predictions
MIN_DOCUMENTS_TO_REUSE_CHOICES = 2_000  # labelled documents: the final fit then reuses the settings of the trial fit
SETTINGS, TABLE = "settings", "table"  # keys of a log entry: the arguments of the user, and whether from a table


@dataclass(frozen=True)
class CategoryQuality:
    """Quality of one category on the held-out documents."""

    name: str
    documents: int  # held-out documents with this category
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Quality:
    """Quality of the labels that a model predicts for held-out documents."""

    n_labelled: int
    n_held_out: int
    n_categories: int
    several: bool
    accuracy: float | None  # share of documents whose label, or set of labels, is exactly right
    f1: float | None  # mean over documents if they have several labels, otherwise over categories
    left_out: tuple[str, ...] = ()  # labels with too few documents
    reason: str = ""  # method of learning, and the reason for it
    accuracy_between: tuple[float, float] | None = None  # 95% interval, with fewer than 100 held-out documents
    categories: tuple[CategoryQuality, ...] = ()  # by number of documents, the largest first
    column: str = ""  # source of the labels
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of each label, if documents have several

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON data."""
        return asdict(self)


def learn_categories(
    collection: Collection,
    labels: Mapping[str, Sequence[str]] | None = None,
    *,
    column: str = "",
    separator: str = "",
    several: bool | None = None,
    holdout: float = DEFAULT_HOLDOUT,
    unlabelled_weight: float | None = None,
    seed: int = 0,
    progress: ProgressReporter = NO_PROGRESS,
    wait: float = 0.0,
) -> Quality:
    """Learn and store categories from labels by document id, from a column, or from the imported labels.

    ``column`` is any column that can group documents; ``separator`` splits its values. Without labels and ``column``
    the only column with a label name is used.

    Labels such as "law/bail" are paths in a hierarchy. ``several`` allows several labels per document; None decides by
    the labels. ``unlabelled_weight`` is the weight of a document without a label, from 0 to 1; None chooses it by
    cross-validation. The fraction ``holdout`` of the labelled documents measures the quality; the stored model is
    trained on all of them. ``progress`` may raise an error until the ending begins; then nothing was written.
    ``wait`` is the time in seconds to wait for another writer.
    """
    settings = {
        TABLE: labels is not None, "separator": separator, "several": several, "holdout": holdout,
        "unlabelled_weight": unlabelled_weight,
    }  # fmt: skip
    collection.refresh()
    version = collection.generation.folder, len(collection)  # checked before writing, because a fit takes long
    last_judgement = Judgements(collection.generation.database).last_number()
    table, column = read_label_table(collection, labels, column, separator)
    rows, labels_of_rows, left_out = select_labels(collection, table)
    several = max(map(len, labels_of_rows)) > 1 if several is None else several
    labels_of_rows = labels_of_rows if several else [document_labels[:1] for document_labels in labels_of_rows]
    linked_places = group_linked_documents(collection, rows)
    heldout_places, training_places = split_heldout(labels_of_rows, holdout, seed, linked_places)
    groups = _number_groups(linked_places, rows, len(collection))
    documents = TrainingDocuments(collection.all_counts, collection.encoder_vectors, groups)
    sizes = Counter(name for names in labels_of_rows for name in set(names))

    def fit(places: Array, reused: CategoryLearner | None = None) -> CategoryLearner:
        names = [labels_of_rows[place] for place in places.tolist()]
        return _fit_learner(documents, rows[places], names, several, unlabelled_weight, reused)

    progress.show_steps(0, N_STEPS)
    trial: CategoryLearner | None = None
    if len(heldout_places) and len({name for place in training_places for name in labels_of_rows[place]}) > 1:
        trial = fit(training_places)
    progress.show_steps(1, N_STEPS)
    reused = trial if len(training_places) >= MIN_DOCUMENTS_TO_REUSE_CHOICES else None
    final = Categories(fit(np.arange(len(rows)), reused), several)
    words: dict[str, tuple[str, ...]] = {}
    if several:
        counts = documents.counts[rows]
        final = replace(final, word_model=fit_word_model(counts, labels_of_rows))
        words = list_label_words(final.word_model, counts, collection.counting.vocabulary.words)
    progress.show_steps(2, N_STEPS)
    evaluation_places = heldout_places if trial is not None else heldout_places[:0]
    evaluated = final if trial is None else Categories(trial, several)
    true_labels = [labels_of_rows[place] for place in evaluation_places]
    predictions = predict_rows(collection, evaluated, rows[evaluation_places], final.names)
    quality = Quality(
        len(rows), len(evaluation_places), len(sizes), several, None, None, left_out, final.model.reason_,
        column=column, words=words,
    )  # fmt: skip
    if trial is not None:
        quality = _measure_quality(quality, true_labels, _predicted_names(final, predictions, len(evaluation_places)))
    heldout = collect_heldout(
        final.names, rows[evaluation_places], true_labels, predictions, sizes,
        by_table=table is not None, last_judgement=last_judgement,
    )  # fmt: skip
    all_rows = sample_rows(len(collection))
    final = replace(final, heldout=heldout, stored_predictions=(all_rows, predict_rows(collection, final, all_rows)))
    progress.show_steps(N_STEPS, N_STEPS)
    progress.begin_ending()
    with collection.folder.writing(wait=wait) as generation:
        collection.refresh()
        if (collection.generation.folder, len(collection)) != version:
            raise ResourceError(
                f"{collection.folder.display_path} was changed meanwhile: it has other documents now",
                hint="Run it again.",
            )
        with new_part(generation, CATEGORIES) as part:
            contents.write_categories(part.folder, final)
        state = collection.state.with_part(CATEGORIES, part.name)
        entry = asdict(replace(quality, categories=(), words={})) | {SETTINGS: settings}
        edit_log.record(generation.database, LEARN, entry, state.to_dict(), parts=[part.part])
    collection.refresh()
    return quality


def load_last_settings(collection: Collection) -> dict[str, Any]:
    """Return the column and the settings of the last learning in force; empty without one."""
    entry = find_learning(collection.generation.database)
    if entry is None:
        return {}
    earlier = {TABLE: False, "separator": "", "several": entry.body.get("several")}  # entries without settings
    settings: dict[str, Any] = entry.body.get(SETTINGS, earlier)
    return {"column": str(entry.body.get("column", ""))} | settings


def read_label_table(
    collection: Collection, labels: Mapping[str, Sequence[str]] | None, column: str, separator: str
) -> tuple[dict[int, tuple[str, ...]] | None, str]:
    """Return labels by row, and the column that they are from; None for the labels that the documents have."""
    if labels is not None and column:
        raise UsageError(
            "expected labels from a table or from a column, got both", hint="Omit the table or the column."
        )
    if labels is not None:
        return {collection.documents.row_of(name): tuple(names) for name, names in labels.items() if names}, ""
    column = column or find_default_column(collection)
    if not column or are_own_labels(collection, column):
        return None, ""
    name, table = load_labels(collection, column, separator)
    return dict(table), name


def select_labels(
    collection: Collection, table: dict[int, tuple[str, ...]] | None
) -> tuple[Any, list[tuple[str, ...]], tuple[str, ...]]:
    """Return rows, their labels without rare ones, and the rare labels; judgements of users override a table."""
    if table is None:
        all_labels = collection.documents.labels_of(range(len(collection)))
        row_labels = [(row, names) for row, names in enumerate(all_labels) if names]
    else:
        labels_by_row = dict(table)
        judgements = Judgements(collection.generation.database).list_current()
        labels_by_row.update({judgement.row: judgement.after for judgement in judgements if judgement.kind != LEAVE})
        row_labels = [(row, names) for row, names in labels_by_row.items() if names]
    sizes: dict[str, int] = {}
    for _, names in row_labels:
        for name in set(names):
            sizes[name] = sizes.get(name, 0) + 1
    rare = tuple(sorted(name for name, size in sizes.items() if size < MIN_DOCUMENTS_PER_LABEL))
    if 2 * len(rare) > len(sizes):  # nearly every document has a label of its own
        rare = ()
    selected = [(row, tuple(name for name in names if name not in rare)) for row, names in row_labels]
    selected = [(row, names) for row, names in selected if names]
    if len(sizes) - len(rare) < 2:
        raise InputError(
            f"learning needs at least two categories, got {len(sizes) - len(rare)}", hint=_suggest_labels(collection)
        )
    return np.array([row for row, _ in selected]), [names for _, names in selected], rare


def _suggest_labels(collection: Collection) -> str:
    """Return a hint with other sources of labels: columns of the collection, or a table."""
    columns = [column.command for column in list_label_columns(Figures(collection))[:MAX_COLUMNS]]
    return f"Use {' or '.join([*columns, 'a table with the columns id and label (--labels FILE)'])}."


def group_linked_documents(collection: Collection, rows: Array) -> list[list[int]]:
    """Return groups of labelled documents that are duplicates or passages of one parent document."""
    copies, numbers = collection.copies, rows.tolist()
    first = dict(zip(copies.rows.tolist(), copies.originals.tolist(), strict=True))
    parents = parent_ids(collection, numbers)
    parent, first_with = list(range(len(numbers))), dict[tuple[str, object], int]()

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    for place, row in enumerate(numbers):
        for kind in (("copy", first.get(row, row)), ("parent", parents[place])):
            parent[root(place)] = root(first_with.setdefault(kind, place))
    groups: dict[int, list[int]] = {}
    for place in range(len(numbers)):
        groups.setdefault(root(place), []).append(place)
    return list(groups.values())


def _number_groups(linked_places: Sequence[Sequence[int]], rows: Array, n_docs: int) -> Array:
    """Return the group number of each document; documents without a label are groups of one."""
    groups = np.arange(n_docs)
    for places in linked_places:
        groups[rows[list(places)]] = rows[places[0]]
    return groups


def split_heldout(
    labels_of_rows: Sequence[Sequence[str]], holdout: float, seed: int, linked_places: Sequence[Sequence[int]] = ()
) -> tuple[Array, Array]:
    """Return the held-out and the remaining indices; linked documents stay together, each label keeps one."""
    linked_places = linked_places or [[place] for place in range(len(labels_of_rows))]
    order, n_heldout = np.random.default_rng(seed).permutation(len(linked_places)), int(holdout * len(labels_of_rows))
    remaining, heldout = Counter(name for names in labels_of_rows for name in set(names)), list[int]()
    for group in (linked_places[number] for number in order.tolist()):
        if len(heldout) >= n_heldout:
            break
        group_labels = Counter(name for place in group for name in set(labels_of_rows[place]))
        if all(remaining[name] > number for name, number in group_labels.items()):
            remaining.subtract(group_labels)
            heldout.extend(group)
    order = np.array([place for number in order.tolist() for place in linked_places[number]], np.int64)
    heldout_places = np.array(heldout, np.int64)
    return heldout_places, order[~np.isin(order, heldout_places)]


class TrainingDocuments(NamedTuple):
    """Counts, embeddings and groups of documents; the documents of a group are held out together."""

    counts: Csr
    vectors: Floats | None
    groups: Array

    def of(self, rows: Array) -> TrainingDocuments:
        return TrainingDocuments(
            self.counts[rows], None if self.vectors is None else self.vectors[rows], self.groups[rows]
        )


def _fit_learner(
    documents: TrainingDocuments,
    rows: Any,
    labels_of_rows: Sequence[Sequence[str]],
    is_multilabel: bool,
    weight: float | None,
    reused: CategoryLearner | None = None,
) -> CategoryLearner:
    """Fit a category learner; ``reused`` is a fitted learner whose settings are used again."""
    if is_multilabel:
        binary, training = MultiLabelBinarizer(sparse_output=True), documents.of(rows)
        labels = binary.fit_transform(labels_of_rows)
        can_reuse = reused is not None and len(reused.classes_) == labels.shape[1]
        if reused is not None and can_reuse:
            model = reused.refit(training.counts, labels, vectors=training.vectors)
        else:
            model = CategoryLearner().fit(training.counts, labels, groups=training.groups, vectors=training.vectors)
        model.classes_ = np.asarray(binary.classes_)
        return model
    names = [labels[0] for labels in labels_of_rows]
    y: list[str | None] = [None] * documents.counts.shape[0]
    for row, name in zip(rows.tolist(), names, strict=True):
        y[row] = name
    if reused is not None and len(reused.classes_) == len(set(names)):
        return reused.refit(documents.counts, np.array(y, object), vectors=documents.vectors)
    tree = Tree.from_paths(sorted(set(names))) if any("/" in name for name in names) else None
    learner = CategoryLearner(tree, unlabelled_weight="cv" if weight is None else weight)
    return learner.fit(documents.counts, np.array(y, object), groups=documents.groups, vectors=documents.vectors)


def _predicted_names(model: Categories, predictions: PredictedLabels, n: int) -> list[list[str]]:
    names: list[list[str]] = [[] for _ in range(n)]
    for place, label in zip(predictions.place.tolist(), predictions.label.tolist(), strict=True):
        names[place].append(model.names[label])
    return names


def _measure_quality(
    quality: Quality, true_labels: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> Quality:
    """Return the quality with accuracy, F1 and category figures of predicted labels."""
    binary = MultiLabelBinarizer().fit([*true_labels, *predicted])
    truth, answer = binary.transform(true_labels), binary.transform(predicted)
    if quality.several:
        score = example_f1(truth, answer)
    else:
        score = f1_score(
            [item[0] for item in true_labels], [item[0] for item in predicted], average="macro", zero_division=0.0
        )
    figures = precision_recall_fscore_support(truth, answer, zero_division=0.0)
    categories = [
        CategoryQuality(str(name), int(number), float(precision), float(recall), float(f1))
        for name, precision, recall, f1, number in zip(binary.classes_, *figures, strict=True)
    ]
    categories.sort(key=lambda item: (-item.documents, item.name))
    accuracy = float(accuracy_score(truth, answer))
    interval = compute_accuracy_interval(accuracy, len(true_labels))
    return replace(quality, accuracy=accuracy, f1=float(score), accuracy_between=interval, categories=tuple(categories))
