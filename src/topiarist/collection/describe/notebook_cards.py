"""Notebook displays of a collection, its tree, and its topics over time and by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiarist.cards import Item, render_card
from topiarist.trees.edits import cut

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.describe.topic_tree import TopicTree
    from topiarist.collection.trends.by_group import ByGroup
    from topiarist.collection.trends.over_time import OverTime

MAX_WORDS = 4  # after the name of a topic


def collection_card(collection: Collection) -> str:
    """Return a card with the size of a collection and the first view of its tree."""
    first, last = collection.dates.span()
    tree = collection.outline.tree
    facts: dict[str, object] = {
        "documents": len(collection),
        "topics": len(tree.leaves),
        "headings": len(tree.headings),
    }
    if first:
        facts["dates"] = f"{first[:10]} to {last[:10]}"
    note = "collection.tables, .search(…), .over_time(), .by_group(…), .shape([…])"
    return render_card(collection.folder.display_path, facts, items=tree_items(collection.tree), note=note)


def tree_card(tree: TopicTree) -> str:
    """Return a card with the size of a tree and its first view."""
    facts = {"documents": tree.n_docs, "topics": len(tree.tree.leaves), "headings": len(tree.tree.headings)}
    return render_card("TopicTree", facts, items=tree_items(tree), note=tree.reason)


def tree_items(tree: TopicTree) -> list[Item]:
    """Return the first view of a tree as a nested list."""
    visible = cut(tree.tree, tree.view("normal"))
    items = []
    for place in visible.tree.depth_first():
        node = visible.origin[place]
        name = tree.tree.names[node] or ", ".join(tree.nodes[node].words[:3])
        words = [word for word in tree.nodes[node].words if word.casefold() not in name.casefold()][:MAX_WORDS]
        note = f"{tree.sizes[node]:,}{' · ' + ', '.join(words) if words and place != visible.tree.root else ''}"
        items.append(Item("Everything" if place == visible.tree.root else name, note, visible.tree.depths[place]))
    return items


def time_card(result: OverTime) -> str:
    """Return a card with the periods, excluded documents and bursts of topics over time."""
    periods = result.periods
    facts: dict[str, object] = {f"{periods.unit}s": len(periods), "documents": int(periods.documents.sum())}
    rows = [(burst.name, f"{burst.first} to {burst.last}", f"{burst.times:.1f}") for burst in result.bursts]
    return render_card(
        "Topics over time", facts, header=("burst", "when", "times the usual") if rows else (), rows=rows,
        note=" ".join(periods.left_out),
    )  # fmt: skip


def group_card(result: ByGroup) -> str:
    """Return a card with the most overrepresented topic of each group."""
    rows = []
    for group, name in enumerate(result.names):
        largest = result.find_overrepresented(group)[:1]
        rows.append(
            (
                name,
                result.documents[group],
                largest[0].name if largest else "",
                f"{largest[0].times:.1f}" if largest else "",
            )
        )
    facts = {"groups": len(result.names), "without a value": result.n_without_value}
    return render_card(
        f"By {result.column}", facts, header=("group", "documents", "more of", "times the others"), rows=rows
    )
