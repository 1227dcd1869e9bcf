"""What is said about an answer: how much was found and where, what was not counted, other words to try."""

from __future__ import annotations

from topiarist.app.explorer.asking import patience, understood
from topiarist.app.explorer.values import TopicLine, counted, name_of, path_to
from topiarist.app.explorer.view import CERTAIN, View
from topiarist.files import finding
from topiarist.text.documents import Document

ALSO = 6  # words the model ties to the query's
NOTHING = "Type words, “phrases in quotes”, beginnings*, -not; or narrow with topic: tag: label: type: before: after:"


def sentence(view: View, query: str, topic: int | None, found: finding.Found, branches: tuple[TopicLine, ...]) -> str:
    """What was found by words, and where most of it is."""
    where = under(view, topic)
    if not found.total and not found.exact:
        return f"Nothing was found in time for “{query}”{where}."
    number = f"{'' if found.exact else 'At least '}{counted(found.total, 'document')}"
    most = max(branches, key=lambda line: (line.matching or 0, line.level), default=None)
    mostly = ""
    known = () if topic is None else view.tree.path(view.shape.node(topic))
    if most is not None and found.total > 1 and (most.matching or 0) > found.total / 2:
        node = view.shape.node(most.id)
        names = [step.name for step in path_to(view, node)[1:]]
        mostly = "" if node in known else f", most of them under {' ▸ '.join(names)}"
    return f"{number} match{'es' if found.total == 1 else ''} “{query}”{where}{mostly}."


def near(view: View, query: str, topic: int | None, some: int) -> str:
    """What was found by meaning."""
    where = under(view, topic)
    return f"The {counted(some, 'document')} most similar to “{query}” in meaning{where}, the closest first."


def under(view: View, topic: int | None) -> str:
    """Which topic a search is narrowed to."""
    return "" if topic is None else f" under {name_of(view, view.shape.node(topic))}"


def stopped(total: int) -> str:
    """That there was no time to count all."""
    least = f": at least {total:,}" if total else ""
    return f"Stopped counting after {patience():g} s{least}."


def also(view: View, text: str) -> list[str]:
    """Own words of the topic that the query speaks of, as other words to try."""
    query = understood(text)
    words = " ".join(term.words for term in query.terms if not term.exclude)
    counts = view.collection.counted([Document("query", words)]) if words else None
    if counts is None or not counts.nnz:
        return []
    chosen = int(view.collection.placer.place(counts, CERTAIN).nodes[0])
    if chosen == view.tree.root:
        return []
    said = set(words.casefold().split())
    return [word for word in view.collection.tree.nodes[chosen].words if word not in said][:ALSO]
