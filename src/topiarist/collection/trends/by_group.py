"""Topics by group: differences between the topic shares of groups, by column, label, tag or file type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Ints
from topiarist.collection.classify.labels_in_topics import LabelCodes
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.trends.topic_shares import TopicColumns, TopicShare, shares_in
from topiarist.errors import UsageError
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.metrics.share_intervals import (
    RatioTable,
    ShareTable,
    compute_ratios,
    concatenate_groups,
    exclude_group,
    pool_groups,
)
from topiarist.storage.database import CodedTexts
from topiarist.text.fields import DATE, NUMBER, TEXT, Field
from topiarist.text.query import Filter, field_key
from topiarist.text.spelling import find_likeliest_name

LABEL, TAG, TYPE = BUILT_IN_GROUPINGS = ("label", "tag", "type")
FEWER_VALUES_HINT = "a column with fewer values"
NO_GROUPING = {DATE: ("a column of dates", "topiarist time FOLDER"), NUMBER: ("a column of numbers", FEWER_VALUES_HINT)}
MAX_GROUPS = 30  # groups in a result; smaller ones are counted, and belong to the other documents
BLOCK = 65_536  # documents whose shares are multiplied at once
MIN_EXPLAINED_EXCESS = 0.8  # of the excess of a topic: a child with as much is listed instead of it
MIN_RATIO_TO_PARENT = 1.5  # times the ratio of a listed ancestor, for a topic below it to be listed too
MIN_RATIO = 1.25  # share in a group, divided by the share in the others, for a topic to be listed


@dataclass(frozen=True, eq=False, repr=False)
class ByGroup:
    """Topic shares by group: groups, the largest first, × topics in the order of the tree.

    Documents with several values count in each group. ``left_out`` is the number of smaller groups that are not listed,
    with ``left_documents`` documents. In a ``pair`` each group is compared with the other one only; ``n_both``
    documents belong to both groups and count in neither.
    """

    column: str
    names: tuple[str, ...]
    documents: tuple[int, ...]
    columns: TopicColumns
    table: ShareTable
    others: ShareTable
    ratio: RatioTable
    assigned_documents: Ints  # groups × topics: documents assigned to each topic
    parents: tuple[int, ...]
    key: str  # name of the column in a query
    n_without_value: int
    n_several_values: int
    left_out: int
    left_documents: int
    pair: bool = False
    n_both: int = 0

    def __repr__(self) -> str:
        return f"<ByGroup of {len(self.topics)} topics in {len(self.names)} groups by {self.column}>"

    def _repr_html_(self) -> str:
        from topiarist.collection.describe.notebook_cards import group_card

        return group_card(self)

    def query(self, group: int) -> str:
        """Return the query that finds the documents of a group; in a pair, without documents of the other group."""
        exclusions = [Filter(self.key, self.names[1 - group], exclude=True)] if self.n_both else []
        return " ".join(map(str, (Filter(self.key, self.names[group]), *exclusions)))

    @property
    def topics(self) -> tuple[int, ...]:
        return self.columns.topics

    def of(self, group: int, topic: int) -> TopicShare:
        documents = int(self.assigned_documents[group, topic])
        return self.columns.compare(self.table, self.others, self.ratio, group, topic, documents)

    def find_overrepresented(self, group: int) -> list[TopicShare]:
        """Return the topics with a certainly larger share in a group, without topics that a relative explains."""
        ratio, share = self.ratio.ratio[group], self.table.share[group]
        excess = share - self.others.share[group]
        places = set(np.flatnonzero(self.ratio.certain[group] & (ratio >= MIN_RATIO)).tolist())
        places -= {
            self.parents[place]
            for place in places
            if excess[place] >= MIN_EXPLAINED_EXCESS * excess[self.parents[place]] > 0
        }
        explained_places = {place for place in places for ancestor in self._iter_ancestors(place)
                 if ancestor in places and ratio[place] < MIN_RATIO_TO_PARENT * ratio[ancestor]}  # fmt: skip
        order = sorted(places - explained_places, key=lambda place: -share[place] * np.log(ratio[place]))
        return [self.of(group, place) for place in order]

    def _iter_ancestors(self, place: int) -> Iterator[int]:
        while (place := self.parents[place]) >= 0:
            yield place

    def find_underrepresented(self, group: int) -> list[TopicShare]:
        """Return the topics of the first view with a certainly smaller share in a group."""
        ratio, others = self.ratio.ratio[group], self.others.share[group]
        places = [
            place
            for place in self.columns.first_view
            if self.ratio.certain[group, place] and ratio[place] <= 1 / MIN_RATIO
        ]
        order = sorted(places, key=lambda place: others[place] * np.log(ratio[place]))
        return [self.of(group, place) for place in order]

    def rows(self, first_view_only: bool = False) -> Iterator[dict[str, Any]]:
        """Yield a table row for each group and topic; with ``first_view_only`` only topics of the first view."""
        for group, name in enumerate(self.names):
            for place in self.columns.first_view if first_view_only else range(len(self.topics)):
                yield {
                    "group": name, "group_documents": self.documents[group], **vars(self.of(group, place))
                }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "without": self.n_without_value,
            "several": self.n_several_values,
            "left_out": self.left_out,
            "left_documents": self.left_documents,
            "pair": self.pair,
            "both": self.n_both,
            "groups": [
                {
                    "name": name,
                    "documents": self.documents[group],
                    "query": self.query(group),
                    "more": [vars(share) for share in self.find_overrepresented(group)],
                    "less": [vars(share) for share in self.find_underrepresented(group)],
                }
                for group, name in enumerate(self.names)
            ],
        }


def list_groupings(figures: Figures) -> dict[str, str]:
    """Return the columns that can group documents: names, with a phrase for the number of values."""
    collection, values = figures.collection, dict[str, str]()
    for field in collection.fields:
        if _is_grouping(field):
            values[field.name] = f"{field.different:,} different"
    for name, number in ((LABEL, len(collection.documents.label_counts())), (TAG, len(collection.marks.tags()))):
        if number:
            values.setdefault(name, f"{number:,} different")
    n_file_types = figures.compute_once(
        ("kinds of files",), lambda: len({*map(_suffix, collection.documents.sources())})
    )
    if n_file_types > 1:
        values.setdefault(TYPE, f"{n_file_types:,} different")
    return values


def find_topics_by_group(
    figures: Figures,
    column: str,
    *,
    compared_groups: Sequence[str] = (),
    max_groups: int = MAX_GROUPS,
    detail: str | int = "normal",
) -> ByGroup:
    """Return topics by group of a column; ``compared_groups`` names two groups to compare with each other."""
    name, key, values = load_grouping(figures, column)
    if not len(values.rows):
        raise UsageError(f"no document has a value of {name}", hint="another column: topiarist groups FOLDER")
    tree = figures.tree
    nodes = [node for node in figures.ordered() if node != tree.root] or [tree.root]
    place = {node: number for number, node in enumerate(nodes)}
    if len(values.names) < 2:
        raise UsageError(f"all documents have the same {name}: {values.names[0]}", hint="a column that differs")
    n_documents, n_several, n_both = values.n_documents, values.n_several, 0
    if compared_groups:
        group_codes = _find_pair(values, name, compared_groups)
        values, n_both = _exclude_shared_documents(values, group_codes)
        groups = np.full(figures.n_docs, -1, np.int64)
        for number, code in enumerate(group_codes):
            groups[values.rows[values.codes == code]] = number
        table = shares_in(figures, groups, 2, nodes)
        others = concatenate_groups([table.group(1), table.group(0)])
        n_several = 0
    else:
        group_codes = values.list_largest(max_groups)
        table, others = _compute_share_tables(figures, values, group_codes, nodes)
    left_out_sizes = [int(values.sizes[code]) for code in range(len(values.names)) if code not in set(group_codes)]
    return ByGroup(
        column=name,
        names=tuple(values.names[code] for code in group_codes),
        documents=tuple(int(values.sizes[code]) for code in group_codes),
        columns=TopicColumns.select(figures, nodes, detail),
        table=table,
        others=others,
        ratio=compute_ratios(table, others),
        assigned_documents=_count_assigned(figures, values, group_codes, nodes),
        parents=tuple(place.get(tree.parents[node], -1) for node in nodes),
        key=key,
        n_without_value=figures.n_docs - n_documents,
        n_several_values=n_several,
        left_out=len(left_out_sizes),
        left_documents=sum(left_out_sizes),
        pair=bool(compared_groups),
        n_both=n_both,
    )


def _find_pair(values: LabelCodes, column: str, group_names: Sequence[str]) -> list[int]:
    if len(group_names) != 2 or group_names[0].strip().casefold() == group_names[1].strip().casefold():
        raise UsageError(
            f"two different groups are compared; got {', '.join(group_names)}", hint="one more, or one other"
        )
    codes = {name.casefold(): code for code, name in enumerate(values.names)}
    for name in group_names:
        if name.strip().casefold() not in codes:
            largest = [values.names[code] for code in values.list_largest(5)]
            raise UsageError(
                f"no document has the {column} {name!r}; the largest groups are {', '.join(largest)}",
                hint=find_likeliest_name(name, values.names) or largest[0],
            )
    return [codes[name.strip().casefold()] for name in group_names]


def _exclude_shared_documents(values: LabelCodes, pair: Sequence[int]) -> tuple[LabelCodes, int]:
    """Remove the documents that belong to both groups of a pair; return the other values and their number."""
    first, second = (values.rows[values.codes == code] for code in pair)
    shared_rows = np.intersect1d(first, second)
    is_kept = ~(np.isin(values.rows, shared_rows) & np.isin(values.codes, pair))
    rows, codes = values.rows[is_kept], values.codes[is_kept]
    return LabelCodes(rows, codes, values.names, np.bincount(codes, minlength=len(values.names))), len(shared_rows)


def _compute_share_tables(
    figures: Figures, values: LabelCodes, group_codes: Sequence[int], nodes: Sequence[int]
) -> tuple[ShareTable, ShareTable]:
    """Return the shares in each group, and in the documents that have another value and not this one."""
    if values.n_several:  # with several values a group is compared with the documents that lack its value
        pairs = [_share_table_of_group(figures, values, code, nodes) for code in group_codes]
        return concatenate_groups([pair.group(1) for pair in pairs]), concatenate_groups(
            [pair.group(0) for pair in pairs]
        )
    place = {code: number for number, code in enumerate(group_codes)}
    groups = np.full(figures.n_docs, -1, np.int64)
    groups[values.rows] = np.array([place.get(code, len(group_codes)) for code in range(len(values.names))])[
        values.codes
    ]
    has_rest = len(group_codes) < len(values.names)
    all_groups = shares_in(figures, groups, len(group_codes) + has_rest, nodes)
    return all_groups.select_groups(np.arange(len(group_codes))), concatenate_groups(
        [pool_groups(exclude_group(all_groups, group)) for group in range(len(group_codes))]
    )


def _share_table_of_group(figures: Figures, values: LabelCodes, code: int, nodes: Sequence[int]) -> ShareTable:
    groups = np.full(figures.n_docs, -1, np.int64)
    groups[values.rows] = 0
    groups[values.rows[values.codes == code]] = 1
    return shares_in(figures, groups, 2, nodes)


def _count_assigned(figures: Figures, values: LabelCodes, group_codes: Sequence[int], nodes: Sequence[int]) -> Ints:
    """Count the documents of each group under each topic; a search under the topic finds the same number."""
    place = {code: number for number, code in enumerate(group_codes)}
    group_numbers = np.array([place.get(code, -1) for code in range(len(values.names))], np.int64)[values.codes]
    rows, groups = values.rows[group_numbers >= 0], group_numbers[group_numbers >= 0]
    membership = csr_array((np.ones(len(rows), np.int64), (groups, rows)), shape=(len(group_codes), figures.n_docs))
    paths, numbers = (
        csr_array(figures.mask[:, list(nodes)].astype(np.float32)),
        np.zeros((len(group_codes), len(nodes)), int),
    )
    for start in range(0, figures.n_docs, BLOCK):
        part = csr_array(figures.collection.shares[start : start + BLOCK] @ paths)
        part.data = (part.data >= MIN_CERTAINTY).astype(np.int64)
        numbers += (membership[:, start : start + BLOCK] @ part).toarray()
    return numbers


def load_grouping(figures: Figures, column: str) -> tuple[str, str, LabelCodes]:
    """Return the name of a column, its name in a query, and the values that documents have."""
    collection, column_name = figures.collection, column.strip()
    for field in collection.fields:
        if column_name.casefold() in (field.name.casefold(), field.key, field_key(field)):
            if not _is_grouping(field):
                reason, hint = NO_GROUPING.get(field.kind, ("different in every document", FEWER_VALUES_HINT))
                raise UsageError(f"{field.name} is {reason}", hint=hint)
            return field.name, field_key(field), _code_values(collection.columns.read_codes(field.name), figures.n_docs)
    name = (
        column_name.casefold().removesuffix("s")
        if column_name.casefold() not in BUILT_IN_GROUPINGS
        else column_name.casefold()
    )
    if name == LABEL:
        return LABEL, LABEL, _code_values(collection.documents.coded_labels(), figures.n_docs)
    if name == TAG:
        return TAG, TAG, _code_values(collection.marks.coded_tags(), figures.n_docs)
    if name == TYPE:
        sources = collection.documents.read_codes("source")
        return TYPE, TYPE, _code_values(sources._replace(texts=tuple(map(_suffix, sources.texts))), figures.n_docs)
    choices = list(list_groupings(figures))
    suggestion = find_likeliest_name(column_name, choices)
    raise UsageError(
        f"there is no column {column!r}; documents can be grouped by: {', '.join(choices) or 'nothing'}",
        hint=suggestion or (choices[0] if choices else "documents with labels or columns"),
    )


def _code_values(values: CodedTexts, n_docs: int) -> LabelCodes:
    """Number the values of documents: values that differ only in case are one, empty values are ignored."""
    is_counted = values.rows < n_docs
    rows, codes = values.rows[is_counted], values.codes[is_counted]
    used = np.zeros(len(values.texts), bool)
    used[codes] = True
    value_names, group = dict[str, str](), np.full(len(values.texts), -1, np.int64)
    number = dict[str, int]()
    for code, text in enumerate(values.texts):
        if used[code] and (value := text.strip()):
            value_names.setdefault(value.casefold(), value)
            group[code] = number.setdefault(value.casefold(), len(number))
    codes = group[codes]
    pairs = rows[codes >= 0] * max(len(value_names), 1) + codes[codes >= 0]
    pairs = pairs if bool((np.diff(pairs) > 0).all()) else np.unique(pairs)
    rows, codes = np.divmod(pairs, max(len(value_names), 1))
    return LabelCodes(rows, codes, tuple(value_names.values()), np.bincount(codes, minlength=len(value_names)))


def _suffix(source: str) -> str:
    name = source.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".gz")
    return name.rpartition(".")[2] if "." in name.strip(".") else ""


def _is_grouping(field: Field) -> bool:
    if field.kind == DATE:
        return False
    return (
        field.different <= MAX_GROUPS
        if field.kind == NUMBER
        else field.different < field.documents or field.kind != TEXT
    )
