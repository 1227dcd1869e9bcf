"""What is said about an answer: how much was found and where, what was not counted, other words to try."""

from __future__ import annotations

from topiarist.app.explorer.asking import patience
from topiarist.app.explorer.pages.narrowing import conditions
from topiarist.app.explorer.values import TopicLine, counted, name_of, path_to
from topiarist.app.explorer.view import CERTAIN, View
from topiarist.collection.find.search import Found
from topiarist.text.documents import Document
from topiarist.text.query import Query

ALSO = 6  # words the model ties to the query's
NOTHING = "Type words, “phrases in quotes”, beginnings*, -not, this OR that; "
NOTHING += "or narrow with topic: tag: label: type: before: after:"


def sentence(view: View, query: Query, topic: int | None, found: Found, branches: tuple[TopicLine, ...]) -> str:
    """What was found by words, and where most of it is."""
    if not found.total and not found.exact:
        return f"Nothing was found in time for{asked_for(view, query, topic, ' “{}”')}."
    what = asked_for(view, query, topic, " match “{}”" if found.total > 1 else " matches “{}”")
    if not found.total:
        return f"No document{what}."
    number = f"{'' if found.exact else 'At least '}{counted(found.total, 'document')}"
    most = max(branches, key=lambda line: (line.matching or 0, line.level), default=None)
    mostly = ""
    named = {*([] if topic is None else [topic]), *(view.shape.find(one.value) for one in query.topics)}
    known = {node for one in named for node in view.tree.path(view.shape.node(one))}
    if most is not None and found.total > 1 and (most.matching or 0) > found.total / 2:
        node = view.shape.node(most.id)
        names = [step.name for step in path_to(view, node)[1:]]
        mostly = "" if node in known else f", most of them under {' ▸ '.join(names)}"
    return f"{number}{what}{mostly}."


def near(view: View, query: Query, topic: int | None, some: int) -> str:
    """What was found by meaning."""
    what = asked_for(view, query, topic, " most similar in meaning to “{}”")
    return f"The {counted(some, 'document')}{what}, the closest first."


def asked_for(view: View, query: Query, topic: int | None, words: str) -> str:
    """A query in words: what it looks for, then its conditions."""
    typed = " ".join(map(str, query.terms))
    where = [] if topic is None else [f"under {name_of(view, view.shape.node(topic))}"]
    said = ", ".join([*where, *(name for name, _ in conditions(view, query))])
    return f"{words.format(typed) if typed else ''}{' ' if said else ''}{said}"


def stopped(total: int) -> str:
    """That there was no time to count all."""
    least = f": at least {total:,}" if total else ""
    return f"Stopped counting after {patience():g} s{least}."


def also(view: View, query: Query) -> list[str]:
    """Own words of the topic that the query speaks of, as other words to try."""
    words = query.meant
    counts = view.collection.counted([Document("query", words)]) if words else None
    if counts is None or not counts.nnz:
        return []
    chosen = int(view.collection.placer.place(counts, CERTAIN).nodes[0])
    if chosen == view.tree.root:
        return []
    said = set(words.casefold().split())
    return [word for word in view.collection.tree.nodes[chosen].words if word not in said][:ALSO]
