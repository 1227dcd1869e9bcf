"""Can I trust it?"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import counted, name_of
from topiarist.app.explorer.view import View
from topiarist.files import facts, log
from topiarist.files.shaping import told

KINDS = {
    "cam": "a cluster-abstraction model", "hplsa": "a hierarchical probabilistic semantic model",
    "ggm": "a mixture of Gaussians with its hierarchy", "labels": "a categoriser of given labels",
}  # fmt: skip
SHARED, OF = 12, 20  # words that two topics have in common, of as many, to be told
PROBLEMS, EDITS = 20, 20
KEYS = (
    ("/", "search field"), ("j k", "next, previous item or document"), ("Enter", "open"),
    ("u", "up: document, list, topic, parent"), ("[ ]", "previous, next neighbour of a topic"),
    ("← → ↑ ↓", "in the tree: close, open, move"), ("1 … 9", "show the tree to that level"), ("t", "tag"),
    ("r", "mark read, or not; in a list the chosen one"),
    ("o", "text as a file"), ("c", "another colouring"), ("g h, g m, g n", "home, model, new"),
    ("?", "these keys"), ("Esc", "close, clear, leave"),
)  # fmt: skip


@dataclass(frozen=True)
class Ask:
    """Nothing more can be asked."""


@dataclass(frozen=True)
class Figure:
    """A number with what it says."""

    name: str
    value: str
    said: str


@dataclass(frozen=True)
class Point:
    """A tree that was considered: its leaves and its perplexity on words it had not seen."""

    leaves: int
    perplexity: float
    chosen: bool


@dataclass(frozen=True)
class Warned:
    """Something that may be wrong, and what to do about it."""

    text: str
    address: str


@dataclass(frozen=True)
class Left:
    """Something that was not read."""

    source: str
    reason: str


@dataclass(frozen=True)
class Done:
    """Something that was done to the collection."""

    when: str
    what: str


@dataclass(frozen=True)
class ModelPage:
    """How the tree came about, and what speaks for it and against it."""

    sentence: str
    reason: str
    figures: tuple[Figure, ...]
    curve: tuple[Point, ...]
    warnings: tuple[Warned, ...]
    problems: tuple[Left, ...]
    n_problems: int
    history: tuple[Done, ...]
    command: str
    keys: tuple[tuple[str, str], ...]


def load(view: View, ask: Ask) -> ModelPage:
    """Fill the page."""
    collection = view.collection
    known, database = collection.description.facts, collection.generation.database
    entries = log.history(database, limit=EDITS)
    recipe = collection.settings.get("recipe", {})
    kind = KINDS.get(collection.state.model, collection.state.model)
    grown = next((entry.time[:16].replace("T", " ") for entry in log.history(database, kind="grow", limit=1)), "")
    return ModelPage(
        f"{kind[:1].upper()}{kind[1:]} with {counted(len(view.tree), 'topic')}, of which "
        f"{counted(len(view.tree.leaves), 'is', 'are')} last, grown {grown} UTC with seed {recipe.get('seed', 0)}.",
        f"{known.get('reason', '')}.", _figures(view, known), _curve(known), _warnings(view),
        tuple(Left(one.source, one.reason) for one in facts.problems(database, limit=PROBLEMS)),
        facts.n_problems(database),
        tuple(Done(one.time[:16].replace("T", " "), told(one, numbers=False)) for one in entries),
        command(recipe, collection.settings), KEYS,
    )  # fmt: skip


def _figures(view: View, known: Any) -> tuple[Figure, ...]:
    tree, vocabulary = view.collection.tree, view.collection.counting.vocabulary
    nodes = [node for place, node in enumerate(tree.nodes) if place != view.tree.root and node.words]
    words = [word for node in nodes for word in node.words[:10]]
    coherence = sum(node.coherence for node in nodes) / max(len(nodes), 1)
    hard = view.hard_sizes[view.tree.root]
    found = [
        Figure("documents", f"{view.n_docs:,}", f"{known.get('n_tokens', 0):,} words"),
        Figure("different words", f"{len(vocabulary):,}",
               f"kept; {counted(len(view.general), 'word')} of more than half of the documents set aside for the root"),
        Figure("hard to place", f"{hard / max(view.n_docs, 1):.1%}",
               f"{counted(hard, 'document')} of which no last topic has more than half"),
        Figure("coherence", f"{coherence:.2f}", "of the words of topics (NPMI): 0 is chance, above 0.1 reads well"),
        Figure("word diversity", f"{len(set(words)) / max(len(words), 1):.0%}",
               "of the first ten words of topics are in no other topic; above 70 % is usual"),
    ]  # fmt: skip
    if known.get("curve"):
        curve = known["curve"]
        perplexity = curve["perplexity"][curve["place"]]
        found.append(
            Figure("held-out perplexity", f"{perplexity:,.0f}", "on words the model had not seen; less is better")
        )
    if known.get("agreement") is not None:
        found.append(
            Figure("agreement with labels", f"{known['agreement']:.2f}", "normalised mutual information, of 1")
        )
    return tuple(found)


def _curve(known: Any) -> tuple[Point, ...]:
    curve = known.get("curve")
    if not curve:
        return ()
    pairs = zip(curve["n_leaves"], curve["perplexity"], strict=True)
    return tuple(Point(int(n), float(p), place == curve["place"]) for place, (n, p) in enumerate(pairs))


def _warnings(view: View) -> tuple[Warned, ...]:
    """What looks wrong: topics of the same words, empty topics, too many documents that are hard to place."""
    nodes, found = view.collection.tree.nodes, []
    sets = {leaf: set(nodes[leaf].words[:OF]) for leaf in view.tree.leaves}
    for one, two in combinations(view.tree.leaves, 2):
        common = len(sets[one] & sets[two])
        if common >= SHARED:
            text = f"{name_of(view, one)} and {name_of(view, two)} share {common} of {OF} words: consider merging them."
            address = addresses.shape("merge", view.shape.topics[one], other=view.shape.topics[two], ready=1)
            found.append(Warned(text, address))
    for leaf in view.tree.leaves:
        if view.sizes[leaf] == 0 and len(view.tree) > 1:
            topic = view.shape.topics[leaf]
            found.append(Warned(f"{name_of(view, leaf)} has no documents: consider deleting it.",
                                addresses.shape("delete", topic, ready=1)))  # fmt: skip
    if view.hard_sizes[view.tree.root] > 0.2 * view.n_docs:
        text = "More than a fifth of the documents are hard to place: there may be too many topics, or too few words."
        found.append(Warned(text, addresses.topic(view.shape.topics[view.tree.root], show="hard")))
    return tuple(found[:20])


def command(recipe: dict[str, Any], settings: dict[str, Any]) -> str:
    """The command that grows the same tree again; nothing where the documents came from a program."""
    if not settings.get("sources"):
        return ""
    parts = ["topiarist", "grow", *map(str, settings["sources"])]
    for name in ("text_column", "title_column", "id_column", "include", "exclude", "limit"):
        told = settings.get("options", {}).get(name)
        for value in told if isinstance(told, list) else [told]:
            parts += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    usual = {
        "stop_words": "none", "stem": None, "phrases": False, "numbers": False, "min_documents": 3, "model": "cam",
        "topics": None, "hierarchy": None, "online": False,
    }  # fmt: skip
    for name, value in recipe.items():
        if name in usual and value != usual[name]:
            option = f"--{name.replace('_', '-')}"
            parts += [option] if value is True else [option, str(value)]
    return shlex.join([*parts, "--seed", str(recipe.get("seed", 0))])
