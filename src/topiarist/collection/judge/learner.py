"""Learning given categories: from the labels of documents to a model that labels others, with its quality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection import contents
from topiarist.collection.judge.categories import Categories, Told, spread
from topiarist.collection.judge.filing import read_rows
from topiarist.collection.judge.heldout_answers import held_out
from topiarist.collection.judge.judgements import LEAVE, Judgements
from topiarist.collection.passages import is_cut
from topiarist.collection.shape.changes import LEARN
from topiarist.collection.state import CATEGORIES
from topiarist.errors import InputError, ResourceError
from topiarist.estimators.category.category_learner import CategoryLearner
from topiarist.hierarchy.tree import Tree
from topiarist.measures.label_agreement import example_f1
from topiarist.store import edit_log
from topiarist.store.generation import new_part
from topiarist.text.passages import whole_id

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

FEWEST = 2  # documents of a label, unless most labels have no more than one
FEW_HELD_OUT = 100  # documents: the share of them that is right says little of others
MANY = 2_000  # labelled documents from which on what was chosen without those held out is good enough for all


@dataclass(frozen=True)
class CategoryQuality:
    """How good one category is, by the documents that were held out."""

    name: str
    documents: int  # that have it
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Quality:
    """How good the labels are that a model gives to documents it has not seen."""

    n_labelled: int
    n_held_out: int
    n_categories: int
    several: bool
    accuracy: float | None  # share of documents whose label, or whole set of labels, is right
    f1: float | None  # mean over documents where they have several labels, else over categories
    left_out: tuple[str, ...] = ()  # labels of too few documents
    reason: str = ""  # how was learned, and why so
    accuracy_between: tuple[float, float] | None = None  # so few were held out that it may as well be this or that
    categories: tuple[CategoryQuality, ...] = ()  # those of most documents first

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)


def learn(
    collection: Collection,
    labels: Mapping[str, Sequence[str]] | None = None,
    *,
    several: bool | None = None,
    holdout: float = 0.2,
    unlabelled_weight: float | None = None,
    seed: int = 0,
) -> Quality:
    """Learn categories from labels by document id, or from those that the documents came with.

    Labels such as "law/bail" are paths in a hierarchy. ``several``: whether a document may have more than one; None
    asks the labels. ``unlabelled_weight``: what a document without a label counts, from 0 to 1; None lets documents
    held out in turn decide. A share of the labelled documents is held out to tell the quality; the model that is kept
    has learned from all.
    """
    collection.refresh()
    seen = collection.generation.folder, len(collection)  # what the model is of; it takes long to fit
    judged = Judgements(collection.generation.database).last_number()
    rows, given, left_out = _labelled(collection, labels)
    several = max(map(len, given)) > 1 if several is None else several
    given = given if several else [one[:1] for one in given]
    together = _together(collection, rows)
    out, known = _held_out(given, holdout, seed, together)
    groups = _numbered(together, rows, len(collection))
    n_out = len(out)
    counts, trial = Material(collection.all_counts, collection.vectors, groups), None
    quality = Quality(len(rows), n_out, len({name for one in given for name in one}), several, None, None, left_out)
    learned: CategoryLearner | None = None
    if n_out and len({name for place in known for name in given[place]}) > 1:
        learned = _fitted(counts, rows[known], [given[place] for place in known], several, unlabelled_weight)
        trial = Categories(learned, several)
    chosen = learned if len(known) >= MANY else None
    final = Categories(_fitted(counts, rows, given, several, unlabelled_weight, chosen), several)
    judging = out if trial is not None else out[:0]
    quality = replace(quality, reason=final.model.reason_, n_held_out=len(judging))
    right, told = [given[place] for place in judging], read_rows(collection, trial or final, rows[judging], final.names)
    if trial is not None:
        quality = _judged(quality, right, _names(final, told, len(judging)))
    sizes = Counter(name for names in given for name in set(names))
    held = held_out(
        final.names, rows[judging], right, told.plain, told.best, sizes, by_table=labels is not None, judged=judged
    )
    every = spread(len(collection))
    final = replace(final, held=held, known=(every, read_rows(collection, final, every)))
    with collection.folder.writing() as generation:
        collection.refresh()
        if (collection.generation.folder, len(collection)) != seen:
            raise ResourceError(
                f"{collection.folder.shown} was changed meanwhile: it has other documents now", hint="run it again"
            )
        with new_part(generation, CATEGORIES) as part:
            contents.write_categories(part.folder, final)
        state = collection.state.with_part(CATEGORIES, part.name)
        edit_log.record(
            generation.database, LEARN, asdict(replace(quality, categories=())), state.to_dict(), parts=[part.part]
        )
    collection.refresh()
    return quality


def _labelled(
    collection: Collection, labels: Mapping[str, Sequence[str]] | None
) -> tuple[Any, list[tuple[str, ...]], tuple[str, ...]]:
    """The rows of labelled documents with their labels, without labels of too few documents, and these.

    What people have judged since in the explorer holds against a table, which does not know of it.
    """
    if labels is None:
        every = collection.documents.labels_of(range(len(collection)))
        found = [(row, names) for row, names in enumerate(every) if names]
    else:
        known = {collection.documents.row_of(name): tuple(names) for name, names in labels.items() if names}
        judged = Judgements(collection.generation.database).holding()
        known.update({one.row: one.after for one in judged if one.kind != LEAVE})
        found = [(row, names) for row, names in known.items() if names]
    sizes: dict[str, int] = {}
    for _, names in found:
        for name in set(names):
            sizes[name] = sizes.get(name, 0) + 1
    rare = tuple(sorted(name for name, size in sizes.items() if size < FEWEST))
    if 2 * len(rare) > len(sizes):  # one label each is what there is
        rare = ()
    kept = [(row, tuple(name for name in names if name not in rare)) for row, names in found]
    kept = [(row, names) for row, names in kept if names]
    if len(sizes) - len(rare) < 2:
        raise InputError(
            f"learning needs at least two categories, got {len(sizes) - len(rare)}",
            hint="--labels FILE, a table with the columns id and label",
        )
    return np.array([row for row, _ in kept]), [names for _, names in kept], rare


def _together(collection: Collection, rows: Array) -> list[list[int]]:
    """Places of labelled documents that belong together: copies of each other, and passages of one whole document.

    Who has learned from the one knows too much of the other to be judged by it.
    """
    copies, numbers = collection.copies, rows.tolist()
    first = dict(zip(copies.rows.tolist(), copies.originals.tolist(), strict=True))
    wholes = collection.documents.many(numbers, texts=False) if is_cut(collection) else []
    parent, first_with = list(range(len(numbers))), dict[tuple[str, object], int]()

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    for place, row in enumerate(numbers):
        kinds: list[tuple[str, object]] = [("copy", first.get(row, row))]
        if wholes:
            kinds.append(("whole", whole_id(wholes[place].id)))
        for kind in kinds:
            parent[root(place)] = root(first_with.setdefault(kind, place))
    found: dict[int, list[int]] = {}
    for place in range(len(numbers)):
        found.setdefault(root(place), []).append(place)
    return list(found.values())


def _numbered(together: Sequence[Sequence[int]], rows: Array, n_docs: int) -> Array:
    """Of every document the number of its group; without a label each is one for itself."""
    groups = np.arange(n_docs)
    for places in together:
        groups[rows[list(places)]] = rows[places[0]]
    return groups


def _held_out(
    given: Sequence[Sequence[str]], holdout: float, seed: int, together: Sequence[Sequence[int]] = ()
) -> tuple[Array, Array]:
    """Places of documents to judge by, and of the others; none that has the only one of a label goes out.

    Those that belong ``together`` stay so: what was learned from one page says too much of the next.
    """
    together = together or [[place] for place in range(len(given))]
    order, wanted = np.random.default_rng(seed).permutation(len(together)), int(holdout * len(given))
    left, out = Counter(name for names in given for name in set(names)), list[int]()
    for group in (together[number] for number in order.tolist()):
        if len(out) >= wanted:
            break
        own = Counter(name for place in group for name in set(given[place]))
        if all(left[name] > number for name, number in own.items()):
            left.subtract(own)
            out.extend(group)
    order = np.array([place for number in order.tolist() for place in together[number]], np.int64)
    judging = np.array(out, np.int64)
    return judging, order[~np.isin(order, judging)]


class Material(NamedTuple):
    """What is learned from: the counts of all documents, their vectors if any, and which are held out together."""

    counts: Csr
    vectors: Floats | None
    groups: Array

    def of(self, rows: Array) -> Material:
        """Some documents."""
        return Material(self.counts[rows], None if self.vectors is None else self.vectors[rows], self.groups[rows])


def _fitted(
    known: Material,
    rows: Any,
    given: Sequence[Sequence[str]],
    several: bool,
    weight: float | None,
    chosen: CategoryLearner | None = None,
) -> CategoryLearner:
    """``chosen``: a learner whose choices hold for all."""
    if several:
        binary, some = MultiLabelBinarizer(sparse_output=True), known.of(rows)
        labels = binary.fit_transform(given)
        alike = chosen is not None and len(chosen.classes_) == labels.shape[1]
        if chosen is not None and alike:
            model = chosen.fit_more(some.counts, labels, vectors=some.vectors)
        else:
            model = CategoryLearner().fit(some.counts, labels, groups=some.groups, vectors=some.vectors)
        model.classes_ = np.asarray(binary.classes_)
        return model
    names = [labels[0] for labels in given]
    y: list[str | None] = [None] * known.counts.shape[0]
    for row, name in zip(rows.tolist(), names, strict=True):
        y[row] = name
    if chosen is not None and len(chosen.classes_) == len(set(names)):
        return chosen.fit_more(known.counts, np.array(y, object), vectors=known.vectors)
    tree = Tree.from_paths(sorted(set(names))) if any("/" in name for name in names) else None
    made = CategoryLearner(tree, unlabelled_weight="cv" if weight is None else weight)
    return made.fit(known.counts, np.array(y, object), groups=known.groups, vectors=known.vectors)


def _names(model: Categories, told: Told, n: int) -> list[list[str]]:
    """The labels of each document."""
    found: list[list[str]] = [[] for _ in range(n)]
    for place, label in zip(told.place.tolist(), told.label.tolist(), strict=True):
        found[place].append(model.names[label])
    return found


def _judged(quality: Quality, right: Sequence[Sequence[str]], told: Sequence[Sequence[str]]) -> Quality:
    binary = MultiLabelBinarizer().fit([*right, *told])
    truth, answer = binary.transform(right), binary.transform(told)
    if quality.several:
        score = example_f1(truth, answer)
    else:
        score = f1_score([one[0] for one in right], [one[0] for one in told], average="macro", zero_division=0.0)
    figures = precision_recall_fscore_support(truth, answer, zero_division=0.0)
    each = [
        CategoryQuality(str(name), int(number), float(precision), float(recall), float(f1))
        for name, precision, recall, f1, number in zip(binary.classes_, *figures, strict=True)
    ]
    each.sort(key=lambda one: (-one.documents, one.name))
    accuracy = float(accuracy_score(truth, answer))
    between = _between(accuracy, len(right)) if len(right) < FEW_HELD_OUT else None
    return replace(quality, accuracy=accuracy, f1=float(score), accuracy_between=between, categories=tuple(each))


def _between(share: float, number: int) -> tuple[float, float]:
    """Wilson's interval: where the share of all may be, 95 in 100 times, that so many documents had."""
    z = 1.96
    middle, spread = share + z * z / (2 * number), z * math.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2)
    scale = 1 + z * z / number
    return round(max(0.0, (middle - spread) / scale), 4), round(min(1.0, (middle + spread) / scale), 4)
