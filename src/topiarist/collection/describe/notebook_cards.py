"""What a collection, its tree, and its topics over time and by group show of themselves in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiarist.cards import Item, card
from topiarist.hierarchy.edits import cut

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.describe.topic_tree import TopicTree
    from topiarist.collection.spread.by_group import ByGroup
    from topiarist.collection.spread.over_time import OverTime

WORDS = 4  # beside the name of a topic


def collection_card(collection: Collection) -> str:
    """A collection: how much is in it, and the first view of its tree."""
    first, last = collection.documents.span()
    facts: dict[str, object] = {"documents": len(collection), "topics": len(collection.outline.tree.leaves)}
    if first:
        facts["dates"] = f"{first[:10]} to {last[:10]}"
    note = "collection.tables, .search(…), .over_time(), .by_group(…), .shape([…])"
    return card(collection.folder.shown, facts, items=tree_items(collection.tree), note=note)


def tree_card(tree: TopicTree) -> str:
    """A tree: how large it is, and its first view."""
    facts = {"documents": tree.n_docs, "topics": len(tree.tree), "at the ends": len(tree.tree.leaves)}
    return card("TopicTree", facts, items=tree_items(tree), note=tree.reason)


def tree_items(tree: TopicTree) -> list[Item]:
    """The first view of a tree as a nested list."""
    shown = cut(tree.tree, tree.view("normal"))
    found = []
    for place in shown.tree.depth_first():
        node = shown.origin[place]
        name = tree.tree.names[node] or ", ".join(tree.nodes[node].words[:3])
        words = [word for word in tree.nodes[node].words if word.casefold() not in name.casefold()][:WORDS]
        beside = f"{tree.sizes[node]:,}{' · ' + ', '.join(words) if words and place != shown.tree.root else ''}"
        found.append(Item("Everything" if place == shown.tree.root else name, beside, shown.tree.depths[place]))
    return found


def time_card(found: OverTime) -> str:
    """Topics over time: the span, what is left out, bursts."""
    known = found.periods
    facts: dict[str, object] = {f"{known.unit}s": len(known), "documents": int(known.documents.sum())}
    rows = [(one.name, f"{one.first} to {one.last}", f"{one.times:.1f}") for one in found.bursts]
    return card(
        "Topics over time", facts, header=("burst", "when", "times the usual") if rows else (), rows=rows,
        note=" ".join(known.left_out),
    )  # fmt: skip


def group_card(found: ByGroup) -> str:
    """Topics by group: what each group has most of, beyond the others."""
    rows = []
    for group, name in enumerate(found.names):
        more = found.more(group)[:1]
        rows.append(
            (name, found.documents[group], more[0].name if more else "", f"{more[0].times:.1f}" if more else "")
        )
    facts = {"groups": len(found.names), "without a value": found.without}
    return card(f"By {found.column}", facts, header=("group", "documents", "more of", "times the others"), rows=rows)
