"""Topics by group: of which topics one group of documents has more than the others, by any column, label or tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Ints
from topiarist.collection.describe.figures import Figures
from topiarist.collection.judge.labels_in_topics import Labelled
from topiarist.collection.spread.over_time import path_text, shares_in
from topiarist.errors import UsageError
from topiarist.measures.placed_documents import CERTAIN
from topiarist.measures.share_intervals import RatioTable, ShareTable, beside, joined, pooled, ratios
from topiarist.store.database import Coded
from topiarist.text.fields import DATE, NUMBER, TEXT, Field
from topiarist.text.query import Filter, field_key
from topiarist.text.spelling import likeliest

LABEL, TAG, TYPE = GIVEN = ("label", "tag", "type")
MOST = 30  # groups that are told apart; smaller ones are told as a number, and are among the others
BLOCK = 65_536  # documents that are looked at at once
NEARLY = 0.8  # of what a topic has more, by one topic below it: that is told instead
FURTHER = 1.5  # times what holds for a topic above, for one below it to be told too
TIMES = 1.25  # as much as the others have, at least, to be told


@dataclass(frozen=True)
class GroupTopic:
    """A topic in a group: its share there and in all other groups, and how many times as much that is."""

    topic: int
    name: str
    path: str
    share: float
    low: float
    high: float
    others: float
    times: float
    times_low: float
    times_high: float
    certain: bool
    documents: int  # of the group, that are mostly of the topic


@dataclass(frozen=True, eq=False, repr=False)
class ByGroup:
    """Groups, the largest first, × topics in the order of the tree.

    ``without``: documents that have no value. ``several``: documents that have more than one; they count under each.
    ``left_out``: smaller groups, and ``left_documents`` in them. Of a ``pair`` the others of each group are the other
    one; ``both`` documents belong to both, and count on neither side.
    """

    column: str
    names: tuple[str, ...]
    documents: tuple[int, ...]
    topics: tuple[int, ...]
    topic_names: tuple[str, ...]
    paths: tuple[str, ...]
    table: ShareTable
    others: ShareTable
    ratio: RatioTable
    mostly: Ints  # documents of each group that are mostly of each topic
    shown: tuple[int, ...]
    parents: tuple[int, ...]
    key: str  # what a query calls the column
    without: int
    several: int
    left_out: int
    left_documents: int
    pair: bool = False
    both: int = 0

    def __repr__(self) -> str:
        return f"<ByGroup of {len(self.topics)} topics in {len(self.names)} groups by {self.column}>"

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import group_card

        return group_card(self)

    def query(self, group: int) -> str:
        """The documents of a group as a query; of a pair, those that are not of the other too."""
        apart = [Filter(self.key, self.names[1 - group], exclude=True)] if self.both else []
        return " ".join(map(str, (Filter(self.key, self.names[group]), *apart)))

    def of(self, group: int, topic: int) -> GroupTopic:
        """One topic in one group, by their places."""
        table, ratio = self.table, self.ratio
        return GroupTopic(
            topic=self.topics[topic],
            name=self.topic_names[topic],
            path=self.paths[topic],
            share=float(table.share[group, topic]),
            low=float(table.low[group, topic]),
            high=float(table.high[group, topic]),
            others=float(self.others.share[group, topic]),
            times=float(ratio.ratio[group, topic]),
            times_low=float(ratio.low[group, topic]),
            times_high=float(ratio.high[group, topic]),
            certain=bool(ratio.certain[group, topic]),
            documents=int(self.mostly[group, topic]),
        )

    def more(self, group: int) -> list[GroupTopic]:
        """The topics of which a group has certainly more than the others, the most telling first.

        A topic that is so by one below it alone is told there; one below another, where it is much more so than that.
        """
        ratio, share = self.ratio.ratio[group], self.table.share[group]
        excess = share - self.others.share[group]
        told = set(np.flatnonzero(self.ratio.certain[group] & (ratio >= TIMES)).tolist())
        told -= {self.parents[place] for place in told if excess[place] >= NEARLY * excess[self.parents[place]] > 0}
        plain = {place for place in told for above in self._above(place)
                 if above in told and ratio[place] < FURTHER * ratio[above]}  # fmt: skip
        order = sorted(told - plain, key=lambda place: -share[place] * np.log(ratio[place]))
        return [self.of(group, place) for place in order]

    def _above(self, place: int) -> Iterator[int]:
        while (place := self.parents[place]) >= 0:
            yield place

    def less(self, group: int) -> list[GroupTopic]:
        """The topics of the first view of which a group has certainly less than the others."""
        ratio, others = self.ratio.ratio[group], self.others.share[group]
        told = [place for place in self.shown if self.ratio.certain[group, place] and ratio[place] <= 1 / TIMES]
        order = sorted(told, key=lambda place: others[place] * np.log(ratio[place]))
        return [self.of(group, place) for place in order]

    def rows(self, shown: bool = False) -> Iterator[dict[str, Any]]:
        """A row for each group and topic, as tables have them."""
        for group, name in enumerate(self.names):
            for place in self.shown if shown else range(len(self.topics)):
                one = self.of(group, place)
                yield {
                    "group": name, "group_documents": self.documents[group], "topic": one.topic, "name": one.name,
                    "path": one.path, "share": one.share, "low": one.low, "high": one.high, "others": one.others,
                    "times": one.times, "times_low": one.times_low, "times_high": one.times_high,
                    "certain": one.certain, "documents": one.documents,
                }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """What differs, as plain JSON data."""
        return {
            "column": self.column,
            "without": self.without,
            "several": self.several,
            "left_out": self.left_out,
            "left_documents": self.left_documents,
            "pair": self.pair,
            "both": self.both,
            "groups": [
                {
                    "name": name,
                    "documents": self.documents[group],
                    "query": self.query(group),
                    "more": [vars(one) for one in self.more(group)],
                    "less": [vars(one) for one in self.less(group)],
                }
                for group, name in enumerate(self.names)
            ],
        }


def groupings(figures: Figures) -> dict[str, str]:
    """What documents can be grouped by: its name, and how many different values it has, in words."""
    collection, found = figures.collection, dict[str, str]()
    for field in collection.fields:
        if _is_grouping(field):
            found[field.name] = f"{field.different:,} different"
    for name, number in ((LABEL, len(collection.documents.label_counts())), (TAG, len(collection.marks.tags()))):
        if number:
            found.setdefault(name, f"{number:,} different")
    kinds = figures.kept(("kinds of files",), lambda: len({*map(_suffix, collection.documents.sources())}))
    if kinds > 1:
        found.setdefault(TYPE, f"{kinds:,} different")
    return found


def by_group(
    figures: Figures,
    column: str,
    *,
    between: Sequence[str] = (),
    most: int = MOST,
    detail: str | int = "normal",
) -> ByGroup:
    """The topics in the groups that a column divides documents into; or their labels, tags, or types of files.

    ``between`` names two groups that are compared with each other; otherwise each is compared with all others.
    """
    name, key, known = _grouped(figures, column)
    if not len(known.rows):
        raise UsageError(f"no document has a value of {name}", hint="another column: topiarist groups FOLDER")
    tree, shape = figures.tree, figures.shape
    nodes = [node for node in figures.ordered() if node != tree.root] or [tree.root]
    place = {node: number for number, node in enumerate(nodes)}
    if len(known.names) < 2:
        raise UsageError(f"all documents have the same {name}: {known.names[0]}", hint="a column that differs")
    n_documents, n_several, both = known.n_documents, known.n_several, 0
    if between:
        chosen = _pair(known, name, between)
        known, both = _apart(known, chosen)
        groups = np.full(figures.n_docs, -1, np.int64)
        for number, code in enumerate(chosen):
            groups[known.rows[known.codes == code]] = number
        table = shares_in(figures, groups, 2, nodes)
        others = joined([table.group(1), table.group(0)])
        n_several = 0
    else:
        chosen = known.largest(most)
        table, others = _tables(figures, known, chosen, nodes)
    left = [int(known.sizes[code]) for code in range(len(known.names)) if code not in set(chosen)]
    return ByGroup(
        column=name,
        names=tuple(known.names[code] for code in chosen),
        documents=tuple(int(known.sizes[code]) for code in chosen),
        topics=tuple(shape.topics[node] for node in nodes),
        topic_names=tuple(figures.names[node] for node in nodes),
        paths=tuple(path_text(figures, node) for node in nodes),
        table=table,
        others=others,
        ratio=ratios(table, others),
        mostly=_mostly(figures, known, chosen, nodes),
        shown=tuple(sorted(place[node] for node in figures.collection.tree.view(detail) if node in place)),
        parents=tuple(place.get(tree.parents[node], -1) for node in nodes),
        key=key,
        without=figures.n_docs - n_documents,
        several=n_several,
        left_out=len(left),
        left_documents=sum(left),
        pair=bool(between),
        both=both,
    )


def _pair(known: Labelled, column: str, between: Sequence[str]) -> list[int]:
    """The numbers of two groups by their names."""
    if len(between) != 2 or between[0].strip().casefold() == between[1].strip().casefold():
        raise UsageError(f"two different groups are compared; got {', '.join(between)}", hint="one more, or one other")
    codes = {name.casefold(): code for code, name in enumerate(known.names)}
    for name in between:
        if name.strip().casefold() not in codes:
            largest = [known.names[code] for code in known.largest(5)]
            raise UsageError(
                f"no document has the {column} {name!r}; the largest groups are {', '.join(largest)}",
                hint=likeliest(name, known.names) or largest[0],
            )
    return [codes[name.strip().casefold()] for name in between]


def _apart(known: Labelled, pair: Sequence[int]) -> tuple[Labelled, int]:
    """The values without those of documents that belong to both groups of a pair; and how many these are."""
    first, second = (known.rows[known.codes == code] for code in pair)
    both = np.intersect1d(first, second)
    stay = ~(np.isin(known.rows, both) & np.isin(known.codes, pair))
    rows, codes = known.rows[stay], known.codes[stay]
    return Labelled(rows, codes, known.names, np.bincount(codes, minlength=len(known.names))), len(both)


def _tables(
    figures: Figures, known: Labelled, chosen: Sequence[int], nodes: Sequence[int]
) -> tuple[ShareTable, ShareTable]:
    """The shares in each chosen group, and in all documents that have another value and not this one."""
    if known.n_several:  # a document may be on both sides of nothing: each group against those that do not have it
        pairs = [_one_group(figures, known, code, nodes) for code in chosen]
        return joined([pair.group(1) for pair in pairs]), joined([pair.group(0) for pair in pairs])
    place = {code: number for number, code in enumerate(chosen)}
    groups = np.full(figures.n_docs, -1, np.int64)
    groups[known.rows] = np.array([place.get(code, len(chosen)) for code in range(len(known.names))])[known.codes]
    rest = len(chosen) < len(known.names)
    every = shares_in(figures, groups, len(chosen) + rest, nodes)
    return every.first(len(chosen)), joined([pooled(beside(every, group)) for group in range(len(chosen))])


def _one_group(figures: Figures, known: Labelled, code: int, nodes: Sequence[int]) -> ShareTable:
    groups = np.full(figures.n_docs, -1, np.int64)
    groups[known.rows] = 0
    groups[known.rows[known.codes == code]] = 1
    return shares_in(figures, groups, 2, nodes)


def _mostly(figures: Figures, known: Labelled, chosen: Sequence[int], nodes: Sequence[int]) -> Ints:
    """How many documents of each group are mostly of each topic, as a search under the topic finds them."""
    place = {code: number for number, code in enumerate(chosen)}
    own = np.array([place.get(code, -1) for code in range(len(known.names))], np.int64)[known.codes]
    rows, groups = known.rows[own >= 0], own[own >= 0]
    where = csr_array((np.ones(len(rows), np.int64), (groups, rows)), shape=(len(chosen), figures.n_docs))
    paths, found = csr_array(figures.mask[:, list(nodes)].astype(np.float32)), np.zeros((len(chosen), len(nodes)), int)
    for start in range(0, figures.n_docs, BLOCK):
        part = csr_array(figures.collection.shares[start : start + BLOCK] @ paths)
        part.data = (part.data >= CERTAIN).astype(np.int64)
        found += (where[:, start : start + BLOCK] @ part).toarray()
    return found


def _grouped(figures: Figures, column: str) -> tuple[str, str, Labelled]:
    """The name of a column, what a query calls it, and the values that documents have."""
    collection, wanted = figures.collection, column.strip()
    for field in collection.fields:
        if wanted.casefold() in (field.name.casefold(), field.key, field_key(field)):
            if not _is_grouping(field):
                raise UsageError(f"{field.name} is {_odd(field)}", hint=_instead(field))
            return field.name, field_key(field), _labelled(collection.columns.coded(field.name), figures.n_docs)
    name = wanted.casefold().removesuffix("s") if wanted.casefold() not in GIVEN else wanted.casefold()
    if name == LABEL:
        return LABEL, LABEL, _labelled(collection.documents.coded_labels(), figures.n_docs)
    if name == TAG:
        return TAG, TAG, _labelled(collection.marks.coded_tags(), figures.n_docs)
    if name == TYPE:
        found = collection.documents.coded("source")
        return TYPE, TYPE, _labelled(found._replace(texts=tuple(map(_suffix, found.texts))), figures.n_docs)
    there = list(groupings(figures))
    near = likeliest(wanted, there)
    raise UsageError(
        f"there is no column {column!r}; documents can be grouped by: {', '.join(there) or 'nothing'}",
        hint=near or (there[0] if there else "documents with labels or columns"),
    )


def _labelled(values: Coded, n_docs: int) -> Labelled:
    """Values of documents as numbers; those that differ in case alone are one, and such as say nothing are none."""
    there = values.rows < n_docs
    rows, codes = values.rows[there], values.codes[there]
    used = np.zeros(len(values.texts), bool)
    used[codes] = True
    shown, group = dict[str, str](), np.full(len(values.texts), -1, np.int64)
    number = dict[str, int]()
    for code, text in enumerate(values.texts):
        if used[code] and (told := text.strip()):
            shown.setdefault(told.casefold(), told)
            group[code] = number.setdefault(told.casefold(), len(number))
    codes = group[codes]
    pairs = rows[codes >= 0] * max(len(shown), 1) + codes[codes >= 0]
    pairs = pairs if bool((np.diff(pairs) > 0).all()) else np.unique(pairs)
    rows, codes = np.divmod(pairs, max(len(shown), 1))
    return Labelled(rows, codes, tuple(shown.values()), np.bincount(codes, minlength=len(shown)))


def _suffix(source: str) -> str:
    name = source.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".gz")
    return name.rpartition(".")[2] if "." in name.strip(".") else ""


def _is_grouping(field: Field) -> bool:
    if field.kind == DATE:
        return False
    return field.different <= MOST if field.kind == NUMBER else field.different < field.documents or field.kind != TEXT


def _odd(field: Field) -> str:
    if field.kind == DATE:
        return "a column of dates"
    return "a column of numbers" if field.kind == NUMBER else "different in every document"


def _instead(field: Field) -> str:
    return "topiarist time FOLDER" if field.kind == DATE else "a column with fewer values"
