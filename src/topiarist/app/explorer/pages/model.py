"""Can I trust it?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.spread.compare import agreement
from topiarist.app.explorer.values import Choice, link
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import Counted, Share, worded
from topiarist.app.words import minute
from topiarist.collection import (
    AccountEntry,
    account_of,
    alike_topics,
    documents_known,
    growing_command,
    grown,
    is_as_grown,
    known_steadiness,
    left_out,
    mean_coherence,
    n_wholes,
    odd_headings,
    step_in_words,
    word_diversity,
)
from topiarist.estimators.tree_models import called
from topiarist.store import edit_log, facts
from topiarist.text.language import languages_in_words

INCOHERENT = 0.05  # words of topics that hang together less are hard to make sense of
PROBLEMS, MOST_PROBLEMS, EDITS, LINES = 20, 5_000, 20, 40
UNREAD = 0.05  # of what was to be read: a grow warns of more, and so does the page
COPIES = 0.1  # of the documents are copies: something may be wrong with the pile
UNSTEADY = 10  # topics
WARNINGS, STEPS = 20, 100  # to be read, and to be drawn
SIZES = (  # why a tree has as many leaves as it has, as the two most frequent reasons are kept
    "{leaves} leaves: the smallest tree within 1 % of the best of 1–{most} (held-out perplexity {perplexity})",
    "{leaves} leaves: the smallest tree within 1 % of the best of 1–{most}",
    "{leaves} leaves, as asked for (held-out perplexity {perplexity})",
    "{leaves} leaves, as asked for",
)


@dataclass(frozen=True)
class Ask:
    """What may be asked of the page."""

    problems: Annotated[Literal["some", "all"], Query(description="how much of what was left out is listed")] = "some"


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
class Steady:
    """A topic that may be chance, or is steady: its name, and what is known of it."""

    topic: Choice
    said: str


@dataclass(frozen=True)
class Left:
    """Something that was not read."""

    source: str
    reason: str


@dataclass(frozen=True)
class Told:
    """A sentence of the account of the documents, and where they are."""

    what: str
    number: int
    said: str
    address: str


@dataclass(frozen=True)
class Done:
    """Something that was done to the collection."""

    when: str
    what: str


@dataclass(frozen=True, kw_only=True)
class ModelPage:
    """How the tree came about, and what speaks for it and against it."""

    sentence: str
    reason: str
    figures: tuple[Figure, ...]
    curve: tuple[Point, ...]
    curve_said: str  # which tree the curve belongs to
    objective: tuple[tuple[int, float], ...]  # after rounds of the last fit
    warnings: tuple[Warned, ...]
    steadiness: str  # of all topics in a sentence; nothing where nobody has asked
    unsteady: tuple[Steady, ...]  # the topics that come back least
    known: tuple[str, ...]  # of the documents beside their texts: columns and dates, a sentence each
    account: tuple[Told, ...]  # what was read, left out, repeated, copied, undated, and in which languages
    problems: tuple[Left, ...]
    n_problems: int
    repeated: str  # lines that many documents share: how many, and in how many documents
    lines: tuple[tuple[str, int], ...]  # some of them, with the number of documents
    line_searches: tuple[str, ...]  # for each of these an address that finds its documents
    all_problems: str  # the page with all that was left out, where it has not
    copies: str  # how many documents are copies of others
    history: tuple[Done, ...]
    command: str


def load(view: View, ask: Ask) -> ModelPage:
    """Fill the page."""
    collection = view.collection
    known, database = collection.description.facts, collection.generation.database
    first, same, uncounted = grown(collection), is_as_grown(collection), left_out(collection)
    kind = called(collection.model) or collection.state.model
    when = "" if first is None else minute(first.time)
    seed = collection.settings.get("recipe", {}).get("seed", 0)
    again = "" if same else worded(" It was shaped and fitted again since then.")
    n_problems, listed = facts.n_problems(database), MOST_PROBLEMS if ask.problems == "all" else PROBLEMS
    return ModelPage(
        sentence=worded(
            "{model} with {topics}, of which {leaves} last, grown {when} UTC with seed {seed}.",
            model=f"{kind[:1].upper()}{kind[1:]}",
            topics=Counted(len(view.tree), "topic"),
            leaves=Counted(len(view.tree.leaves), "is", "are"),
            when=when,
            seed=str(seed),
        )
        + again,
        reason=worded("Why this size: {reason}.", reason=_reason(known)) if same and known.get("reason") else "",
        figures=_figures(view, known, same),
        curve=_curve(known),
        curve_said=_curve_said(known, same),
        objective=_objective(view),
        warnings=_warnings(view),
        **_steadiness(view),
        known=view.remembered(("known",), lambda: documents_known(database, collection.settings)),
        account=tuple(_told(one) for one in view.remembered(("account",), lambda: account_of(collection))),
        problems=tuple(Left(one.source, one.reason) for one in facts.problems(database, limit=listed)),
        n_problems=n_problems,
        all_problems=f"{addresses.MODEL}?problems=all#not-read"
        if listed < n_problems and ask.problems != "all"
        else "",
        repeated=uncounted.repeated_said,
        lines=uncounted.lines[:LINES],
        line_searches=tuple(_with_line(line) for line, _ in uncounted.lines[:LINES]),
        copies=uncounted.copies_said,
        history=tuple(
            Done(minute(one.time), step_in_words(database, one)) for one in edit_log.history(database, limit=EDITS)
        ),
        command=growing_command(collection.settings),
    )


def _told(one: AccountEntry) -> Told:
    """An entry of the account with the way to its documents."""
    places = {
        "documents": addresses.home(), "read": addresses.home(), "passages": addresses.home(), "left_out": "#not-read",
        "repeated": "#uncounted", "copies": addresses.duplicates(), "removed": "#done",
    }  # fmt: skip
    return Told(one.what, one.number, one.said, addresses.search(one.query) if one.query else places.get(one.what, ""))


def _with_line(line: str) -> str:
    """A search for the documents that have a line: for the longest piece of it without a number."""
    longest = max(line.replace('"', " ").split("#"), key=len).strip()
    return addresses.search(f'"{longest}"', by="words") if longest else ""


def _reason(known: Any) -> str:
    """What was kept as the reason of the size of a tree, in the reader's language where it is one of ``SIZES``."""
    curve = known.get("curve")
    if curve:
        values = {
            "leaves": curve["n_leaves"][curve["place"]], "most": max(curve["n_leaves"]),
            "perplexity": round(curve["perplexity"][curve["place"]]),
        }  # fmt: skip
        for place, text in enumerate(SIZES):
            if text.format(**{name: f"{value:,}" for name, value in values.items()}) == known["reason"]:
                return worded(SIZES[place], **values)
    return str(known["reason"])


def _curve_said(known: Any, same: bool) -> str:
    if not known.get("curve"):
        return ""
    leaves = known["curve"]["n_leaves"][known["curve"]["place"]]
    if same:
        return worded(
            "How hard trees with few last topics (left) and many (right) find words that they have not seen: lower is "
            "better. The one with {leaves} was chosen.",
            leaves=leaves,
        )
    return worded(
        "These are the trees that were tried when the collection was grown; the one with {leaves} last topics was "
        "chosen. The tree of today was shaped and fitted again, and is not among them.",
        leaves=leaves,
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
    vocabulary, (diversity, n_words) = view.collection.counting.vocabulary, word_diversity(view)
    hard, settings = view.hard_sizes[view.tree.root], view.collection.settings
    n_documents = view.remembered("wholes", lambda: n_wholes(view.collection))
    whole = n_documents == view.n_docs
    read = worded("{number} words", number=known.get("n_tokens", 0))
    if not whole:
        read = worded("of {documents}; {words}", documents=Counted(n_documents, "document"), words=read)
    found = [
        Figure(worded("documents" if whole else "passages"), f"{view.n_docs:,}", read),
        Figure(
            worded("different words"),
            f"{len(vocabulary):,}",
            worded(
                "kept; {words} of more than half of the documents set aside for the root",
                words=Counted(len(view.general), "word"),
            ),
        ),
        Figure(
            worded("hard to place"),
            worded("{share}", share=Share(hard / max(view.n_docs, 1), 1)),
            worded("{documents} of which no last topic has more than half", documents=Counted(hard, "document")),
        ),
        Figure(
            worded("coherence"),
            f"{mean_coherence(view) or 0.0:.2f}",
            worded("of the ten first words of topics (NPMI): 0 is chance, above 0.1 reads well"),
        ),
        Figure(
            worded("word diversity"),
            worded("{share}", share=Share(diversity)),
            worded(
                "of the {words} first words of topics, ten of each, are different words: at 100 % no two topics share "
                "one, above 70 % is usual, below 50 % topics repeat each other",
                words=n_words,
            ),
        ),
    ]
    odd = odd_headings(view)
    if odd.sentence:
        found.append(Figure(worded("headings"), f"{odd.headings:,}", odd.sentence))
    if settings.get("languages"):
        codes, sizes = tuple(settings["languages"]), tuple(settings["languages"].values())
        told = languages_in_words(codes, sizes, settings.get("languages_unknown", 0))
        found.insert(2, Figure(worded("languages" if len(codes) > 1 else "language"), str(len(codes)), told))
    if known.get("curve") and same:
        curve = known["curve"]
        perplexity = curve["perplexity"][curve["place"]]
        found.append(
            Figure(
                worded("held-out perplexity"),
                f"{perplexity:,.0f}",
                worded("on words the model had not seen; less is better"),
            )
        )
    agreed = agreement(view)
    if agreed is not None:
        said = worded("normalised mutual information, of 1")
        found.append(Figure(worded("agreement with labels"), f"{agreed:.2f}", said))
    return tuple(found)


def _curve(known: Any) -> tuple[Point, ...]:
    curve = known.get("curve")
    if not curve:
        return ()
    pairs = zip(curve["n_leaves"], curve["perplexity"], strict=True)
    return tuple(Point(int(n), float(p), place == curve["place"]) for place, (n, p) in enumerate(pairs))


def _warnings(view: View) -> tuple[Warned, ...]:
    """What looks wrong with the fit, with topics and their words, or with where documents lie."""
    found, steps, coherence = [], view.last_fit.stopped, mean_coherence(view)
    if steps is not None:
        text = worded(
            "The last fit was stopped after {steps}: fit again for a better tree.", steps=Counted(steps, "iteration")
        )
        found.append(Warned(text, (), "/refit", worded("Fit again"), True))
    if coherence is not None and coherence < INCOHERENT:
        text = worded(
            "The words of topics hardly go together (coherence {coherence}): there may be too many topics, texts that "
            "are too short, or words among them that say nothing.",
            coherence=f"{coherence:.2f}",
        )
        found.append(Warned(text, (), addresses.home(), worded("Look at the topics")))
    missing = facts.n_problems(view.collection.generation.database)
    if missing > UNREAD * (view.n_docs + missing):
        text = worded(
            "{number} of {all} files, rows or dates were left out or not read whole.",
            number=missing,
            all=view.n_docs + missing,
        )
        found.append(Warned(text, (), "#not-read", worded("Which, and why")))
    uncounted = left_out(view.collection)
    if uncounted.repeated_said and not uncounted.lines:
        found.append(Warned(f"{uncounted.repeated_said}.", (), "#uncounted", worded("What that means")))
    if uncounted.n_copies > COPIES * view.n_docs:
        text = worded("{copies}: more than a tenth of the collection is there twice.", copies=uncounted.copies_said)
        found.append(Warned(text, (), addresses.duplicates(), worded("Look at them")))
    for common, of, one, two in view.remembered("alike", lambda: alike_topics(view, WARNINGS)):
        text = worded("Two topics share {common} of {all} words: consider merging them.", common=common, all=of)
        address = addresses.shape("merge", view.shape.topics[one], other=view.shape.topics[two], ready=1)
        found.append(Warned(text, _links(view, one, two), address, worded("Merge them…")))
    for leaf in view.tree.leaves:
        if view.sizes[leaf] == 0 and len(view.tree) > 1:
            address = addresses.shape("delete", view.shape.topics[leaf], ready=1)
            text = worded("A topic has no documents: consider deleting it.")
            found.append(Warned(text, _links(view, leaf), address, worded("Delete it…")))
    if view.hard_sizes[view.tree.root] > 0.2 * view.n_docs:
        text = worded(
            "More than a fifth of the documents are hard to place: there may be too many topics, or too few words."
        )
        address = addresses.topic(view.shape.topics[view.tree.root], show="hard")
        found.append(Warned(text, (), address, worded("Look at them")))
    return tuple(found[:WARNINGS])


def _steadiness(view: View) -> dict[str, Any]:
    """How steady the topics are, and those that come back least."""
    known = known_steadiness(view.collection)
    if known is None:
        return {"steadiness": "", "unsteady": ()}
    told = [f"{number:,} {word}" for word, number in known.counts().items()]
    least = sorted((share, topic) for topic, share in known.shares.items() if topic in view.shape.node_of)
    return {
        "steadiness": worded(
            "Of {topics}, {counts}: {trees} other trees were grown, each from another half of the documents.",
            topics=Counted(len(known.shares), "topic"),
            counts=", ".join(told),
            trees=known.n_trees,
        ),
        "unsteady": tuple(
            Steady(_links(view, view.shape.node(topic))[0], known.said(topic)) for share, topic in least[:UNSTEADY]
        ),
    }


def _links(view: View, *nodes: int) -> tuple[Choice, ...]:
    return tuple(link(view.names[node], addresses.topic(view.shape.topics[node])) for node in nodes)
