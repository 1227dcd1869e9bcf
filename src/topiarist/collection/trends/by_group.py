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
FEWER_VALUES_HINT = "Choose a column with fewer values."
NO_GROUPING = {
    DATE: ("a column of dates", "Run topiarist time FOLDER."),
    NUMBER: ("a column of numbers", FEWER_VALUES_HINT),
}
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
        parents = ((place, self.parents[place]) for place in places)
        places -= {parent for place, parent in parents if excess[place] >= MIN_EXPLAINED_EXCESS * excess[parent] > 0}

        def is_explained(place: int) -> bool:
            listed = (above for above in self._iter_ancestors(place) if above in places)
            return any(ratio[place] < MIN_RATIO_TO_PARENT * ratio[above] for above in listed)

        order = sorted(places, key=lambda place: -share[place] * np.log(ratio[place]))
        return [self.of(group, place) for place in order if not is_explained(place)]

    def _iter_ancestors(self, place: int) -> Iterator[int]:
        while (place := self.parents[place]) >= 0:
            yield place

    def find_underrepresented(self, group: int) -> list[TopicShare]:
        """Return the topics of the first view with a certainly smaller share in a group."""
        ratio, others, certain = self.ratio.ratio[group], self.others.share[group], self.ratio.certain[group]
        places = [place for place in self.columns.first_view if certain[place] and ratio[place] <= 1 / MIN_RATIO]
        return [
            self.of(group, place) for place in sorted(places, key=lambda place: others[place] * np.log(ratio[place]))
        ]

    def rows(self, first_view_only: bool = False) -> Iterator[dict[str, Any]]:
        """Yield a table row for each group and topic; with ``first_view_only`` only topics of the first view."""
        for group, (name, documents) in enumerate(zip(self.names, self.documents, strict=True)):
            for place in self.columns.first_view if first_view_only else range(len(self.topics)):
                yield {"group": name, "group_documents": documents, **vars(self.of(group, place))}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison of groups as plain JSON data."""
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
    collection = figures.collection
    sources = collection.documents.sources
    n_types = figures.compute_once(("kinds of files",), lambda: len({*map(_suffix, sources())}))
    numbers = {field.name: field.different for field in collection.fields if _is_grouping(field)}
    built_in = {
        LABEL: len(collection.documents.label_counts()), TAG: len(collection.marks.tags()), TYPE: n_types * (n_types > 1)
    }  # fmt: skip
    for name, number in built_in.items():
        if number:
            numbers.setdefault(name, number)
    return {name: f"{number:,} different" for name, number in numbers.items()}


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
        raise UsageError(
            f"no document has a value of {name}",
            hint="Choose a column that topiarist groups FOLDER lists.",
        )
    if len(values.names) < 2:
        raise UsageError(
            f"all documents have the same {name}: {values.names[0]}", hint="Choose a column with different values."
        )
    tree, n_documents, n_several, n_both = figures.tree, values.n_documents, values.n_several, 0
    nodes = [node for node in figures.ordered() if node != tree.root] or [tree.root]
    place = {node: number for number, node in enumerate(nodes)}
    if compared_groups:
        codes = _find_pair(values, name, compared_groups)
        values, n_both = _exclude_shared_documents(values, codes)
        places = dict(zip(codes, (0, 1), strict=True))
        pair = _compute_shares(figures, values, places, nodes, n_groups=2, rest=-1)
        table, others, n_several = pair, concatenate_groups([pair.group(1), pair.group(0)]), 0
    else:
        codes = values.list_largest(max_groups)
        table, others = _compute_share_tables(figures, values, codes, nodes)
    left_out = np.delete(values.sizes, codes)
    return ByGroup(
        column=name,
        names=tuple(values.names[code] for code in codes),
        documents=tuple(int(values.sizes[code]) for code in codes),
        columns=TopicColumns.select(figures, nodes, detail),
        table=table,
        others=others,
        ratio=compute_ratios(table, others),
        assigned_documents=_count_assigned(figures, values, codes, nodes),
        parents=tuple(place.get(tree.parents[node], -1) for node in nodes),
        key=key,
        n_without_value=figures.n_docs - n_documents,
        n_several_values=n_several,
        left_out=len(left_out),
        left_documents=int(left_out.sum()),
        pair=bool(compared_groups),
        n_both=n_both,
    )


def _find_pair(values: LabelCodes, column: str, group_names: Sequence[str]) -> list[int]:
    """Return the codes of two groups by name; raise UsageError for unknown or equal names."""
    keys = [name.strip().casefold() for name in group_names]
    if len(keys) != 2 or keys[0] == keys[1]:
        problem = f"expected two different groups, got {', '.join(group_names)}"
        raise UsageError(problem, hint="Name two different groups.")
    codes = {name.casefold(): code for code, name in enumerate(values.names)}
    for key, name in zip(keys, group_names, strict=True):
        if key not in codes:
            largest = [values.names[code] for code in values.list_largest(5)]
            problem = f"no document has the {column} {name!r}; the largest groups are {', '.join(largest)}"
            raise UsageError(problem, hint=f"Use {find_likeliest_name(name, values.names) or largest[0]}.")
    return [codes[key] for key in keys]


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
    n_groups = len(group_codes)
    if values.n_several:  # with several values a group is compared with the documents that lack its value
        pairs = [_compute_shares(figures, values, {code: 1}, nodes, n_groups=2, rest=0) for code in group_codes]
        own, lacking = (concatenate_groups([pair.group(side) for pair in pairs]) for side in (1, 0))
        return own, lacking
    places = {code: number for number, code in enumerate(group_codes)}
    has_rest = n_groups < len(values.names)
    table = _compute_shares(figures, values, places, nodes, n_groups=n_groups + has_rest, rest=n_groups)
    others = [pool_groups(exclude_group(table, group)) for group in range(n_groups)]
    return table.select_groups(np.arange(n_groups)), concatenate_groups(others)


def _compute_shares(
    figures: Figures, values: LabelCodes, places: dict[int, int], nodes: Sequence[int], *, n_groups: int, rest: int
) -> ShareTable:
    """Return the topic shares of groups; ``places`` maps the code of a value to its group.

    Documents with other values are the group ``rest``, or in none if it is -1.
    """
    groups = np.full(figures.n_docs, -1, np.int64)
    groups[values.rows] = rest
    for code, place in places.items():
        groups[values.rows[values.codes == code]] = place
    return shares_in(figures, groups, n_groups, nodes)


def _count_assigned(figures: Figures, values: LabelCodes, group_codes: Sequence[int], nodes: Sequence[int]) -> Ints:
    """Count the documents of each group under each topic; a search under the topic finds the same number."""
    group_of_code = np.full(len(values.names), -1, np.int64)
    group_of_code[list(group_codes)] = range(len(group_codes))
    groups = group_of_code[values.codes]
    rows, groups = values.rows[groups >= 0], groups[groups >= 0]
    membership = csr_array((np.ones(len(rows), np.int64), (groups, rows)), shape=(len(group_codes), figures.n_docs))
    paths = csr_array(figures.mask[:, list(nodes)].astype(np.float32))
    numbers = np.zeros((len(group_codes), len(nodes)), int)
    for start in range(0, figures.n_docs, BLOCK):
        part = csr_array(figures.collection.shares[start : start + BLOCK] @ paths)
        part.data = (part.data >= MIN_CERTAINTY).astype(np.int64)
        numbers += (membership[:, start : start + BLOCK] @ part).toarray()
    return numbers


def load_grouping(figures: Figures, column: str) -> tuple[str, str, LabelCodes]:
    """Return the name of a column, its name in a query, and the values that documents have."""
    collection, key = figures.collection, column.strip().casefold()
    for field in collection.fields:
        if key in (field.name.casefold(), field.key, field_key(field)):
            if not _is_grouping(field):
                reason, hint = NO_GROUPING.get(field.kind, ("different in every document", FEWER_VALUES_HINT))
                raise UsageError(f"documents cannot be grouped by {field.name}, which is {reason}", hint=hint)
            return field.name, field_key(field), _code_values(collection.columns.read_codes(field.name), figures.n_docs)
    name = key if key in BUILT_IN_GROUPINGS else key.removesuffix("s")
    if name in BUILT_IN_GROUPINGS:
        if name == TYPE:
            sources = collection.documents.read_codes("source")
            values = sources._replace(texts=tuple(map(_suffix, sources.texts)))
        else:
            values = collection.documents.coded_labels() if name == LABEL else collection.marks.coded_tags()
        return name, name, _code_values(values, figures.n_docs)
    choices = list(list_groupings(figures))
    suggestion = find_likeliest_name(column.strip(), choices)
    raise UsageError(
        f"there is no column {column!r}; documents can be grouped by: {', '.join(choices) or 'nothing'}",
        hint=f"Use {suggestion or choices[0]}." if choices else "Add documents with labels or columns.",
    )


def _code_values(values: CodedTexts, n_docs: int) -> LabelCodes:
    """Number the values of documents: values that differ only in case are one, empty values are ignored."""
    is_counted = values.rows < n_docs
    rows, codes = values.rows[is_counted], values.codes[is_counted]
    value_names, groups = dict[str, str](), np.full(len(values.texts), -1, np.int64)
    numbers = dict[str, int]()
    for code in np.unique(codes).tolist():
        if value := values.texts[code].strip():
            value_names.setdefault(value.casefold(), value)
            groups[code] = numbers.setdefault(value.casefold(), len(numbers))
    codes = groups[codes]
    pairs = rows[codes >= 0] * max(len(value_names), 1) + codes[codes >= 0]
    pairs = pairs if bool((np.diff(pairs) > 0).all()) else np.unique(pairs)
    rows, codes = np.divmod(pairs, max(len(value_names), 1))
    return LabelCodes(rows, codes, tuple(value_names.values()), np.bincount(codes, minlength=len(value_names)))


def _suffix(source: str) -> str:
    name = source.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".gz")
    return name.rpartition(".")[2] if "." in name.strip(".") else ""


def _is_grouping(field: Field) -> bool:
    if field.kind in (DATE, NUMBER):
        return field.kind == NUMBER and field.different <= MAX_GROUPS
    return field.different < field.documents or field.kind != TEXT
