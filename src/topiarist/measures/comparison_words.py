"""A comparison of two trees in words and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_text import DOT, printable

if TYPE_CHECKING:
    from topiarist.measures.comparison import Comparison

STEP = " ▸ "  # between the names of a path
IN_A_LABEL = 3  # words


@dataclass(frozen=True)
class Flow:
    """Documents that were at a node of A and are at a node of B that is not its counterpart."""

    node_a: int
    node_b: int
    documents: int


@dataclass(frozen=True)
class Regrouped:
    """A node of one tree whose documents make up several of the other, with how many of its documents each has."""

    whole: int
    parts: tuple[int, ...]
    documents: tuple[int, ...]


def plain(found: Comparison) -> dict[str, Any]:
    """All of a comparison as plain JSON data; nodes with their number, name, path, words and size."""

    def of_a(node: int) -> dict[str, Any]:
        return _node(found.tree_a, found.words_a, found.sizes_a, node)

    def of_b(node: int) -> dict[str, Any]:
        return _node(found.tree_b, found.words_b, found.sizes_b, node)

    def pairs(matches: dict[int, Any]) -> list[dict[str, Any]]:
        return [
            {"a": of_a(node), "b": of_b(match.node_b), "overlap": match.overlap, "doubtful": match.doubtful}
            for node, match in sorted(matches.items())
        ]

    return {
        "documents": {"shared": found.n_shared, "only_a": found.n_only_a, "only_b": found.n_only_b},
        "agreement": {"leaves": asdict(found.leaves), "levels": [asdict(level) for level in found.levels]},
        "matches": pairs(found.matches),
        "best": pairs(found.best),
        "moved": {
            "documents": found.moved,
            "flows": [
                {"a": of_a(flow.node_a), "b": of_b(flow.node_b), "documents": flow.documents} for flow in found.flows
            ],
        },
        "split": [
            {"a": of_a(one.whole), "b": list(map(of_b, one.parts)), "documents": list(one.documents)}
            for one in found.split
        ],
        "merged": [
            {"a": list(map(of_a, one.parts)), "b": of_b(one.whole), "documents": list(one.documents)}
            for one in found.merged
        ],
        "gone": list(map(of_a, found.gone)),
        "new": list(map(of_b, found.new)),
    }


def _node(tree: Tree, words: Sequence[Sequence[str]], sizes: Sequence[int], node: int) -> dict[str, Any]:
    own = list(words[node]) if words else []
    path = list(tree.path_names(node))
    return {"id": node, "name": tree.names[node], "path": path, "words": own, "size": sizes[node]}


def lines(found: Comparison, n: int) -> list[str]:
    """The comparison as text: a sentence, how far both agree, then what changed, the largest first."""
    return list(_lines(found, n))


def _lines(found: Comparison, n: int) -> Iterator[str]:
    only = [f"{number:,} only in {side}" for number, side in ((found.n_only_a, "A"), (found.n_only_b, "B")) if number]
    yield DOT.join([f"{_documents(found.n_shared)} in both", *only])
    yield f"leaves: A {len(found.tree_a.leaves):,}, B {len(found.tree_b.leaves):,}"
    yield ""
    yield "agreement      NMI   adjusted Rand"
    if len(found.levels) > 1:
        for level, agreement in enumerate(found.levels, 1):
            yield f"  level {level:<4}  {agreement.nmi:5.3f}   {agreement.rand:5.3f}"
    yield f"  leaves      {found.leaves.nmi:5.3f}   {found.leaves.rand:5.3f}"
    yield ""
    yield from _matches(found)
    share = found.moved / found.n_shared
    yield f"moved: {_documents(found.moved)} ({share:.1%})" if found.moved else "moved: nothing"
    for flow in found.flows[:n]:
        yield f"  {flow.documents:>9,}  {_label_a(found, flow.node_a)}  →  {_label_b(found, flow.node_b)}"
    yield from _regrouped(found, n)
    yield from _left("gone", [(found.sizes_a[node], _label_a(found, node)) for node in found.gone], n)
    yield from _left("new", [(found.sizes_b[node], _label_b(found, node)) for node in found.new], n)


def _matches(found: Comparison) -> Iterator[str]:
    doubtful = [node for node, match in found.matches.items() if match.doubtful]
    sure = len(found.matches) - len(doubtful)
    filled = sum(size > 0 for size in found.sizes_a)
    yield f"nodes of A with a counterpart in B: {sure:,} of {filled:,}" + (
        f", {len(doubtful):,} more in doubt" if doubtful else ""
    )


def _regrouped(found: Comparison, n: int) -> Iterator[str]:
    if found.split:
        yield f"split: {len(found.split):,}"
        for one in found.split[:n]:
            yield f"  {_label_a(found, one.whole)}  →  {' + '.join(_label_b(found, part) for part in one.parts)}"
        yield from _more(len(found.split) - n)
    if found.merged:
        yield f"merged: {len(found.merged):,}"
        for one in found.merged[:n]:
            yield f"  {' + '.join(_label_a(found, part) for part in one.parts)}  →  {_label_b(found, one.whole)}"
        yield from _more(len(found.merged) - n)


def _left(title: str, nodes: Sequence[tuple[int, str]], n: int) -> Iterator[str]:
    if nodes:
        yield f"{title}: {len(nodes):,}"
        yield from (f"  {size:>9,}  {label}" for size, label in nodes[:n])
        yield from _more(len(nodes) - n)


def _more(number: int) -> Iterator[str]:
    if number > 0:
        yield f"  … and {number:,} more"


def _documents(number: int) -> str:
    return f"{number:,} document{'' if number == 1 else 's'}"


def _label_a(found: Comparison, node: int) -> str:
    return _label(found.tree_a, found.words_a, node)


def _label_b(found: Comparison, node: int) -> str:
    return _label(found.tree_b, found.words_b, node)


def _label(tree: Tree, words: Sequence[Sequence[str]], node: int) -> str:
    """The path below the root, and words that a reader would not guess from the name."""
    path = [tree.names[step] for step in tree.path(node)[1:]] or [tree.names[node] or "(root)"]
    own = [word for word in (words[node] if words else ()) if word not in path[-1]][:IN_A_LABEL]
    return printable(STEP.join(path) + (f" ({', '.join(own)})" if own else ""))
