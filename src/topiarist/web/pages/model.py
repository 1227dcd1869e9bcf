"""Record of the fit with its quality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query

from topiarist.collection.classify.tree_quality import (
    compute_coherence,
    compute_word_diversity,
    find_odd_headings,
    find_similar_topics,
)
from topiarist.collection.describe.account import AccountEntry, build_account
from topiarist.collection.describe.collection_facts import describe_documents
from topiarist.collection.describe.node_words import LevelWords, compare_node_words
from topiarist.collection.describe.provenance import find_growth, format_growing_command, is_unchanged_since_growth
from topiarist.collection.grow.exclusions import find_exclusions
from topiarist.collection.grow.regrowth import load_stability
from topiarist.collection.passages import count_documents
from topiarist.collection.shape.history import describe_step
from topiarist.display.formats import format_minute
from topiarist.display.locale.catalogues import CountedNoun, Share, translate
from topiarist.estimators.tree_models import describe_model
from topiarist.storage import edit_log, facts
from topiarist.text.documents import Problem
from topiarist.text.language import describe_languages
from topiarist.web import addresses
from topiarist.web.pages.compare import agreement
from topiarist.web.values import Choice, link
from topiarist.web.view import View

INCOHERENT = 0.05  # words of topics that hang together less are hard to make sense of
PROBLEMS, MAX_PROBLEMS, EDITS, LINES = 20, 5_000, 20, 40
UNREAD = 0.05  # of what was to be read: a grow warns of more, and so does the page
COPIES = 0.1  # of the documents are copies: something may be wrong with the pile
UNSTEADY = 10  # topics
WARNINGS, STEPS = 20, 100  # to be read, and to be drawn
SIZES = (  # why a tree has as many topics as it has, as the two most frequent reasons are kept
    "{topics} topics: the smallest tree within 1% of the best of 1–{most} after a charge for size "
    "(held-out perplexity {perplexity})",
    "{topics} topics: the smallest tree within 1% of the best of 1–{most} after a charge for size",
    "{topics} topics, as asked for (held-out perplexity {perplexity})",
    "{topics} topics, as asked for",
)


@dataclass(frozen=True)
class Ask:
    """Query parameters of the page."""

    problems: Annotated[Literal["some", "all"], Query(description="number of listed skipped files")] = "some"


@dataclass(frozen=True)
class Figure:
    """Figure with its meaning."""

    name: str
    value: str
    said: str


@dataclass(frozen=True)
class Point:
    """Number of leaves of a candidate tree, with its held-out perplexity."""

    leaves: int
    perplexity: float
    chosen: bool


@dataclass(frozen=True)
class FitWarning:
    """Warning about the fit, with the action that helps."""

    text: str
    topics: tuple[Choice, ...]
    address: str
    action: str
    posts: bool = False  # a button that does it, not a link that leads there


@dataclass(frozen=True)
class StabilityLine:
    """Stability of a topic as a sentence."""

    topic: Choice
    said: str


@dataclass(frozen=True)
class AccountLine:
    """A sentence of the account of the documents, with the address of the documents."""

    what: str
    number: int
    said: str
    address: str


@dataclass(frozen=True)
class Done:
    """Edit of the collection, with its time."""

    when: str
    what: str


@dataclass(frozen=True, kw_only=True)
class ModelPage:
    """Record of the fit, with figures and warnings."""

    sentence: str
    reason: str
    figures: tuple[Figure, ...]
    curve: tuple[Point, ...]
    curve_said: str  # which tree the curve belongs to
    objective: tuple[tuple[int, float], ...]  # after rounds of the last fit
    levels: tuple[LevelWords, ...]  # words of nodes against the averages of their branches
    warnings: tuple[FitWarning, ...]
    steadiness: str  # of all topics in a sentence; nothing where nobody has asked
    unsteady: tuple[StabilityLine, ...]  # the topics that come back least
    known: tuple[str, ...]  # of the documents beside their texts: columns and dates, a sentence each
    account: tuple[AccountLine, ...]  # what was read, left out, repeated, copied, undated, and in which languages
    problems: tuple[Problem, ...]
    n_problems: int
    repeated: str  # lines that many documents share: how many, and in how many documents
    lines: tuple[tuple[str, int], ...]  # some of them, with the number of documents
    line_searches: tuple[str, ...]  # for each of these an address that finds its documents
    all_problems: str  # the page with all that was left out, where it has not
    copies: str  # how many documents are copies of others
    history: tuple[Done, ...]
    command: str


def load(view: View, ask: Ask) -> ModelPage:
    """Return the page with figures, warnings, account and history of the collection."""
    collection = view.collection
    description, database = collection.description.facts, collection.generation.database
    first, is_unchanged, exclusions = (
        find_growth(collection),
        is_unchanged_since_growth(collection),
        find_exclusions(collection),
    )
    kind = describe_model(collection.model) or collection.state.model
    grown_time = "" if first is None else format_minute(first.time)
    seed = collection.settings.get("recipe", {}).get("seed", 0)
    edit_text = "" if is_unchanged else translate(" It has edits and a later fit.")
    n_problems, max_problems = facts.n_problems(database), MAX_PROBLEMS if ask.problems == "all" else PROBLEMS
    return ModelPage(
        sentence=translate(
            "{model} with {topics} and {headings}, grown {when} UTC with seed {seed}.",
            model=f"{kind[:1].upper()}{kind[1:]}",
            topics=CountedNoun(len(view.tree.leaves), "topic"),
            headings=CountedNoun(len(view.tree.headings), "heading"),
            when=grown_time,
            seed=str(seed),
        )
        + edit_text,
        reason=translate("Size: {reason}.", reason=_explain_size(description))
        if is_unchanged and description.get("reason")
        else "",
        figures=_list_figures(view, description, is_unchanged),
        curve=_list_curve_points(description),
        curve_said=_describe_curve(description, is_unchanged),
        objective=_list_objectives(view),
        levels=view.compute_once(("node words",), lambda: compare_node_words(view)),
        warnings=_list_warnings(view),
        **_describe_stability(view),
        known=view.remembered(("known",), lambda: describe_documents(database, collection.settings)),
        account=tuple(
            _describe_entry(item) for item in view.remembered(("account",), lambda: build_account(collection))
        ),
        problems=tuple(facts.problems(database, limit=max_problems)),
        n_problems=n_problems,
        all_problems=f"{addresses.MODEL}?problems=all#not-read"
        if max_problems < n_problems and ask.problems != "all"
        else "",
        repeated=exclusions.repeated_said,
        lines=exclusions.lines[:LINES],
        line_searches=tuple(_link_line_search(line) for line, _ in exclusions.lines[:LINES]),
        copies=exclusions.copies_said,
        history=tuple(
            Done(format_minute(item.time), describe_step(database, item))
            for item in edit_log.history(database, limit=EDITS)
        ),
        command=format_growing_command(collection.settings),
    )


def _describe_entry(entry: AccountEntry) -> AccountLine:
    """Return an entry of the account with the address of its documents."""
    places = {
        "documents": addresses.overview(), "read": addresses.overview(), "passages": addresses.overview(),
        "left_out": "#not-read",
        "repeated": "#uncounted", "copies": addresses.duplicates(), "removed": "#done",
    }  # fmt: skip
    return AccountLine(
        entry.what,
        entry.number,
        entry.said,
        addresses.search(entry.query) if entry.query else places.get(entry.what, ""),
    )


def _link_line_search(line: str) -> str:
    """Return a search for the longest part of a repeated line without a number."""
    longest = max(line.replace('"', " ").split("#"), key=len).strip()
    return addresses.search(f'"{longest}"', by="words") if longest else ""


def _explain_size(description: Any) -> str:
    """Return the reason for the number of topics, translated if its form is known."""
    curve = description.get("curve")
    if curve:
        values = {
            "topics": curve["n_leaves"][curve["place"]], "most": max(curve["n_leaves"]),
            "perplexity": round(curve["perplexity"][curve["place"]]),
        }  # fmt: skip
        for place, text in enumerate(SIZES):
            if text.format(**{name: f"{value:,}" for name, value in values.items()}) == description["reason"]:
                return translate(SIZES[place], **values)
    return str(description["reason"])


def _describe_curve(description: Any, is_unchanged: bool) -> str:
    """Return the chosen number of topics in words; empty without tested sizes."""
    if not description.get("curve"):
        return ""
    leaves = description["curve"]["n_leaves"][description["curve"]["place"]]
    if is_unchanged:
        return translate(
            "Held-out perplexity by number of topics, lower is better. {leaves} topics were chosen.",
            leaves=leaves,
        )
    return translate(
        "Trees tested while growing. {leaves} topics were chosen. The current tree has edits and is not among them.",
        leaves=leaves,
    )


def _list_objectives(view: View) -> tuple[tuple[int, float], ...]:
    """Return the log-likelihood of at most ``STEPS`` rounds of the fit."""

    def compute_points() -> tuple[tuple[int, float], ...]:
        known = [float(item) for item in getattr(view.collection.model, "history_", ())]
        step = max(1, -(-len(known) // STEPS))
        places = sorted({*range(0, len(known), step), len(known) - 1}) if known else []
        return tuple((place + 1, known[place]) for place in places if math.isfinite(known[place]))

    return view.remembered("objective", compute_points)


def _list_figures(view: View, description: Any, is_unchanged: bool) -> tuple[Figure, ...]:
    """Return the figures of the model with explanations; some only if they are known."""
    vocabulary, (diversity, n_words) = view.collection.counting.vocabulary, compute_word_diversity(view)
    hard, settings = view.hard_sizes[view.tree.root], view.collection.settings
    n_documents = view.remembered("wholes", lambda: count_documents(view.collection).documents)
    all_documents = n_documents == view.n_docs
    read = translate("{number} words", number=view.collection.tree.n_tokens)
    if not all_documents:
        read = translate("of {documents}; {words}", documents=CountedNoun(n_documents, "document"), words=read)
    result = [
        Figure(translate("documents" if all_documents else "passages"), f"{view.n_docs:,}", read),
        Figure(
            translate("different words"),
            f"{len(vocabulary):,}",
            translate(
                "in the model; {words} of more than half of the documents belong to the root",
                words=CountedNoun(len(view.general), "word"),
            ),
        ),
        Figure(
            translate("unsorted"),
            translate("{share}", share=Share(hard / max(view.n_docs, 1), 1)),
            translate("{documents} without a topic that holds half of them", documents=CountedNoun(hard, "document")),
        ),
        Figure(
            translate("coherence"),
            f"{compute_coherence(view) or 0.0:.2f}",
            translate("NPMI of the ten first words: 0 is chance, above 0.1 is good"),
        ),
        Figure(
            translate("word diversity"),
            translate("{share}", share=Share(diversity)),
            translate(
                "of {words} first words of topics and headings are distinct: above 70% is usual",
                words=n_words,
            ),
        ),
    ]
    odd = find_odd_headings(view)
    if odd.sentence:
        result.append(Figure(translate("headings"), f"{odd.headings:,}", odd.sentence))
    if settings.get("languages"):
        codes, sizes = tuple(settings["languages"]), tuple(settings["languages"].values())
        values = describe_languages(codes, sizes, settings.get("languages_unknown", 0))
        result.insert(2, Figure(translate("languages" if len(codes) > 1 else "language"), str(len(codes)), values))
    if description.get("curve") and is_unchanged:
        curve = description["curve"]
        perplexity = curve["perplexity"][curve["place"]]
        result.append(
            Figure(
                translate("held-out perplexity"),
                f"{perplexity:,.0f}",
                translate("on held-out words; lower is better"),
            )
        )
    agreed = agreement(view)
    if agreed is not None:
        text = translate("normalised mutual information, at most 1")
        result.append(Figure(translate("agreement with labels"), f"{agreed:.2f}", text))
    return tuple(result)


def _list_curve_points(description: Any) -> tuple[Point, ...]:
    """Return the tested numbers of topics with their perplexity; empty without a test."""
    curve = description.get("curve")
    if not curve:
        return ()
    pairs = zip(curve["n_leaves"], curve["perplexity"], strict=True)
    return tuple(Point(int(n), float(p), place == curve["place"]) for place, (n, p) in enumerate(pairs))


def _list_warnings(view: View) -> tuple[FitWarning, ...]:
    """Return the most important warnings, each with an action that helps."""
    result, steps, coherence = [], view.last_fit.stopped, compute_coherence(view)
    if steps is not None:
        text = translate(
            "The last fit was stopped after {steps}. Fit again for a better tree.",
            steps=CountedNoun(steps, "iteration"),
        )
        result.append(FitWarning(text, (), "/refit", translate("Fit again"), True))
    if coherence is not None and coherence < INCOHERENT:
        text = translate(
            "Low coherence ({coherence}). Possible causes: too many topics, short texts or uninformative words.",
            coherence=f"{coherence:.2f}",
        )
        result.append(FitWarning(text, (), addresses.overview(), translate("Show topics")))
    missing = facts.n_problems(view.collection.generation.database)
    if missing > UNREAD * (view.n_docs + missing):
        text = translate(
            "{number} of {all} files, rows or dates were skipped or are incomplete.",
            number=missing,
            all=view.n_docs + missing,
        )
        result.append(FitWarning(text, (), "#not-read", translate("Show reasons")))
    exclusions = find_exclusions(view.collection)
    if exclusions.repeated_said and not exclusions.lines:
        result.append(FitWarning(f"{exclusions.repeated_said}.", (), "#uncounted", translate("Explain")))
    if exclusions.n_copies > COPIES * view.n_docs:
        text = translate("{copies}. More than 10% of the collection are duplicates.", copies=exclusions.copies_said)
        result.append(FitWarning(text, (), addresses.duplicates(), translate("Show")))
    for common, of, item, two in view.remembered("alike", lambda: find_similar_topics(view, WARNINGS)):
        text = translate("Two topics share {common} of {all} words. Consider merging them.", common=common, all=of)
        address = addresses.shape("merge", view.shape.topics[item], other=view.shape.topics[two], ready=1)
        result.append(FitWarning(text, _link_topics(view, item, two), address, translate("Merge them…")))
    for leaf in view.tree.leaves:
        if view.sizes[leaf] == 0 and len(view.tree) > 1:
            address = addresses.shape("delete", view.shape.topics[leaf], ready=1)
            text = translate("A topic has no documents. Consider deleting it.")
            result.append(FitWarning(text, _link_topics(view, leaf), address, translate("Delete it…")))
    if view.hard_sizes[view.tree.root] > 0.2 * view.n_docs:
        text = translate(
            "More than 20% of the documents are unsorted. Possible causes: too many topics or short texts."
        )
        address = addresses.topic(view.shape.topics[view.tree.root], show="hard")
        result.append(FitWarning(text, (), address, translate("Show")))
    return tuple(result[:WARNINGS])


def _describe_stability(view: View) -> dict[str, Any]:
    """Return the page fields on stability; empty ones if it was never measured."""
    stability = load_stability(view.collection)
    if stability is None:
        return {"steadiness": "", "unsteady": ()}
    values = [f"{number:,} {word}" for word, number in stability.counts().items()]
    n_topics, n_headings = stability.count_topics(view.shape)
    least_stable = sorted((share, topic) for topic, share in stability.shares.items() if topic in view.shape.node_of)
    return {
        "steadiness": translate(
            "Of {topics} and {headings}, {counts}. Measured with {trees} trees from random halves.",
            topics=CountedNoun(n_topics, "topic"),
            headings=CountedNoun(n_headings, "heading"),
            counts=", ".join(values),
            trees=stability.n_trees,
        ),
        "unsteady": tuple(
            StabilityLine(_link_topics(view, view.shape.node(topic))[0], stability.describe(topic))
            for share, topic in least_stable[:UNSTEADY]
        ),
    }


def _link_topics(view: View, *nodes: int) -> tuple[Choice, ...]:
    return tuple(link(view.names[node], addresses.topic(view.shape.topics[node])) for node in nodes)
