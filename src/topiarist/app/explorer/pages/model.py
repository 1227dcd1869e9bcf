"""Can I trust it?"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from topiarist.app.explorer import addresses
from topiarist.app.explorer.dating import fitted
from topiarist.app.explorer.pages.compare import agreement_of
from topiarist.app.explorer.values import Choice, counted, name_of
from topiarist.app.explorer.view import View
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.changes import in_words
from topiarist.collection.state import TREE
from topiarist.estimators.tree_models import called
from topiarist.store import edit_log, facts

INCOHERENT = 0.05  # words of topics that hang together less are hard to make sense of
SHARED, OF, FEWEST = 0.6, 20, 5  # of their first words, of how many, and of how few, to say that two topics are alike
PROBLEMS, EDITS = 20, 20
WARNINGS, STEPS = 20, 100  # to be read, and to be drawn
USUAL = {name: value for name, value in Recipe().to_dict().items() if name not in ("language", "seed")}


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
    topics: tuple[Choice, ...]
    address: str
    action: str
    posts: bool = False  # a button that does it, not a link that leads there


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
    curve_said: str  # which tree the curve belongs to
    objective: tuple[tuple[int, float], ...]  # after rounds of the last fit
    warnings: tuple[Warned, ...]
    problems: tuple[Left, ...]
    n_problems: int
    history: tuple[Done, ...]
    command: str


def load(view: View, ask: Ask) -> ModelPage:
    """Fill the page."""
    collection = view.collection
    known, database = collection.description.facts, collection.generation.database
    entries, first = (
        edit_log.history(database, limit=EDITS),
        next(iter(edit_log.history(database, kind="grow", limit=1)), None),
    )
    kind = called(collection.model) or collection.state.model
    grown, same = "" if first is None else first.time[:16].replace("T", " "), _as_grown(view, first)
    seed = collection.settings.get("recipe", {}).get("seed", 0)
    again = "" if same else " It was shaped and fitted again since then."
    return ModelPage(
        f"{kind[:1].upper()}{kind[1:]} with {counted(len(view.tree), 'topic')}, of which "
        f"{counted(len(view.tree.leaves), 'is', 'are')} last, grown {grown} UTC with seed {seed}.{again}",
        f"Why this size: {known['reason']}." if same and known.get("reason") else "",
        _figures(view, known, same), _curve(known), _curve_said(known, same), _objective(view),
        _warnings(view),
        tuple(Left(one.source, one.reason) for one in facts.problems(database, limit=PROBLEMS)),
        facts.n_problems(database),
        tuple(Done(one.time[:16].replace("T", " "), in_words(database, one)) for one in entries),
        command(collection.settings),
    )  # fmt: skip


def _as_grown(view: View, grown: edit_log.Edit | None) -> bool:
    """Whether the tree is the one that was grown: no fit has come between."""
    if grown is None:
        return True
    parts = edit_log.state(view.collection.generation.database, grown.after).get("parts", {})
    return bool(parts.get(TREE, "") == view.collection.state.parts.get(TREE))


def _curve_said(known: Any, same: bool) -> str:
    if not known.get("curve"):
        return ""
    leaves = known["curve"]["n_leaves"][known["curve"]["place"]]
    if same:
        return (
            "How hard trees with few last topics (left) and many (right) find words that they have not seen: lower is "
            f"better. The one with {leaves:,} was chosen."
        )
    return (
        f"These are the trees that were tried when the collection was grown; the one with {leaves:,} last topics was "
        "chosen. The tree of today was shaped and fitted again, and is not among them."
    )


def _objective(view: View) -> tuple[tuple[int, float], ...]:
    """What a fit makes larger, round by round, where the model has kept it; of many rounds some."""

    def made() -> tuple[tuple[int, float], ...]:
        known = [float(one) for one in getattr(view.collection.model, "history_", ())]
        step = max(1, -(-len(known) // STEPS))
        places = sorted({*range(0, len(known), step), len(known) - 1}) if known else []
        return tuple((place + 1, known[place]) for place in places if math.isfinite(known[place]))

    return view.remembered("objective", made)


def _figures(view: View, known: Any, same: bool) -> tuple[Figure, ...]:
    vocabulary, coherence = view.collection.counting.vocabulary, _coherence(view)
    words = [word for node in _below(view) for word in node.words[:10]]
    hard = view.hard_sizes[view.tree.root]
    found = [
        Figure("documents", f"{view.n_docs:,}", f"{known.get('n_tokens', 0):,} words"),
        Figure("different words", f"{len(vocabulary):,}",
               f"kept; {counted(len(view.general), 'word')} of more than half of the documents set aside for the root"),
        Figure("hard to place", f"{hard / max(view.n_docs, 1):.1%}",
               f"{counted(hard, 'document')} of which no last topic has more than half"),
        Figure("coherence", f"{coherence:.2f}", "of the words of topics (NPMI): 0 is chance, above 0.1 reads well"),
        Figure("word diversity", f"{len(set(words)) / max(len(words), 1):.0%}",
               f"of the {len(words):,} first words of topics, ten of each, are different words: at 100 % no two topics "
               "share one, above 70 % is usual, below 50 % topics repeat each other"),
    ]  # fmt: skip
    if known.get("curve") and same:
        curve = known["curve"]
        perplexity = curve["perplexity"][curve["place"]]
        found.append(
            Figure("held-out perplexity", f"{perplexity:,.0f}", "on words the model had not seen; less is better")
        )
    agreement = agreement_of(view)
    if agreement is not None:
        found.append(Figure("agreement with labels", f"{agreement:.2f}", "normalised mutual information, of 1"))
    return tuple(found)


def _below(view: View) -> list[Any]:
    """The topics below the root that have words."""
    nodes = view.collection.tree.nodes
    return [node for place, node in enumerate(nodes) if place != view.tree.root and node.words]


def _coherence(view: View) -> float:
    nodes = _below(view)
    return float(sum(node.coherence for node in nodes) / max(len(nodes), 1))


def _curve(known: Any) -> tuple[Point, ...]:
    curve = known.get("curve")
    if not curve:
        return ()
    pairs = zip(curve["n_leaves"], curve["perplexity"], strict=True)
    return tuple(Point(int(n), float(p), place == curve["place"]) for place, (n, p) in enumerate(pairs))


def _warnings(view: View) -> tuple[Warned, ...]:
    """What looks wrong with the fit, with topics and their words, or with where documents lie."""
    nodes, found, steps = view.collection.tree.nodes, [], fitted(view).stopped
    if steps is not None:
        text = f"The last fit was stopped after {counted(steps, 'iteration')}: fit again for a better tree."
        found.append(Warned(text, (), "/refit", "Fit again", True))
    if _below(view) and _coherence(view) < INCOHERENT:
        text = (
            f"The words of topics hardly go together (coherence {_coherence(view):.2f}): there may be too many topics, "
            "texts that are too short, or words among them that say nothing."
        )
        found.append(Warned(text, (), addresses.home(), "Look at the topics"))
    sets = {leaf: set(nodes[leaf].words[:OF]) for leaf in view.tree.leaves}
    for common, of, one, two in view.remembered("alike", lambda: _alike(sets)):
        text = f"Two topics share {common} of {of} words: consider merging them."
        address = addresses.shape("merge", view.shape.topics[one], other=view.shape.topics[two], ready=1)
        found.append(Warned(text, _links(view, one, two), address, "Merge them…"))
    for leaf in view.tree.leaves:
        if view.sizes[leaf] == 0 and len(view.tree) > 1:
            address = addresses.shape("delete", view.shape.topics[leaf], ready=1)
            found.append(Warned("A topic has no documents: consider deleting it.", _links(view, leaf), address,
                                "Delete it…"))  # fmt: skip
    if view.hard_sizes[view.tree.root] > 0.2 * view.n_docs:
        text = "More than a fifth of the documents are hard to place: there may be too many topics, or too few words."
        address = addresses.topic(view.shape.topics[view.tree.root], show="hard")
        found.append(Warned(text, (), address, "Look at them"))
    return tuple(found[:WARNINGS])


def _alike(sets: dict[int, set[str]]) -> list[tuple[int, int, int, int]]:
    """Pairs of topics whose words are much the same: how many they share, of how many; those that share most first."""
    found = []
    for one, two in combinations(sets, 2):
        common, of = len(sets[one] & sets[two]), min(len(sets[one]), len(sets[two]))
        if of >= FEWEST and common >= SHARED * of:
            found.append((common, of, one, two))
    return sorted(found, key=lambda pair: (-pair[0], pair[2:]))[:WARNINGS]


def _links(view: View, *nodes: int) -> tuple[Choice, ...]:
    return tuple(Choice(name_of(view, node), addresses.topic(view.shape.topics[node]), False) for node in nodes)


def command(settings: dict[str, Any], *, paths: bool = True) -> str:
    """What grows the same tree again: the command as it was typed, or the call. ``paths``: files may be named."""
    recipe, typed = settings.get("recipe", {}), settings.get("command")
    told = {name: value for name, value in recipe.items() if name in USUAL and value != USUAL[name]}
    seed = recipe.get("seed", 0)
    if typed and paths:
        seeded = any(part == "--seed" or part.startswith("--seed=") for part in typed)
        return shlex.join([*map(str, typed), *([] if seeded else ["--seed", str(seed)])])
    if not typed and paths:
        given = ", ".join(f"{name}={value!r}" for name, value in {**told, "seed": seed}.items() if name != "hierarchy")
        return f"Collection.grow(documents, folder, Recipe({given}))"
    parts = ["topiarist", "grow", "SOURCE"]
    for name, value in told.items():
        option = f"--{name.replace('_', '-')}"
        said = "FILE" if name == "hierarchy" or (name == "stop_words" and not str(value).isalpha()) else str(value)
        parts += [option] if value is True else [option, said]
    return shlex.join([*parts, "--seed", str(seed)])
