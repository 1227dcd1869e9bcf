"""docs/comparison.md, from what was found (``benchmarks/comparison.json``)."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.comparison.piles import ABSTRACTS, BARE, NAMES, TITLES, YEAR
from benchmarks.comparison.systems import CLASSES, EVERY, FEATURES, REVIEWS, SEVERAL, SPEED, TOPICS, System
from benchmarks.findings import table, wrap_paragraphs
from benchmarks.paths import REPOSITORY

FOUND = REPOSITORY / "benchmarks" / "comparison.json"
PAGE = REPOSITORY / "docs" / "comparison.md"
QUIET = REPOSITORY / "benchmarks" / "comparison_quiet.json"
FIGURES = (
    ("nmi", "NMI"), ("npmi", "coherence"), ("diversity", "diversity"), ("purity", "purity"), ("seconds", "seconds"),
    ("megabytes", "MB"),
)  # fmt: skip
WORDS = ("ours", "ours-25", "ours-vectors", "nmf-same", "nmf-25", "bertopic", "hlda", "hpa")

HEAD = """# Beside others

*Written by `make compare` (`python -m benchmarks.comparison --page` writes it from what was found before). Edit
`benchmarks/comparison/page.py` instead.*

Peers that people would pick, on the same documents, each in a process and an environment of its own with one thread.
Everybody is given the same counts, without the general words that Topiarist sets aside: that helps the others, which have no such
step. Whoever works on vectors is given those of all-MiniLM-L6-v2 (eight bits). Settings are the defaults of each; where a number of
topics must be told, it is 25. **One seed each, on a machine where others were at work; each table says of how many documents**: read the order of magnitude. Time is processor time of the fit, compiled
before, memory the peak of the process. Rows that we lose stay.

- **NMI**: agreement of the documents' topics (leaves) with the classes; more topics than classes cost.
- **coherence**: NPMI of the ten words of each topic, in the documents themselves; **diversity**: the share of different words among
  them. *topics* counts every node of a tree but the root. Ours are the words that the pages show, which are chosen by the documents they
  occur in; those of the others are the most probable or heaviest ones, as they show them. That choice is a part of our lead.
- **purity**: dendrogram purity of the tree with the families of the classes, where there is a tree; documents that a system leaves
  out are left out.
- **20 Newsgroups, bare** is without headers, footers and quotations, by scikit-learn's own functions; to save time, with the fewest systems,
  and without those that work on vectors. Toponymy has the abstracts alone, for the same reason."""

LOST_REVIEW = """**On OHSUMED we lose in two other measurements**: by ASReview's default ranking 27.9% of 5,000 documents are read until 95% of the
relevant ones are found, by ours 31.0% (`python -m benchmarks.run review --draws 5`, [measured](measured.md)). Beside ASReview 3.0.8 itself,
on five topics among 3,000 documents, it was 1,256 documents here and 1,148 there ([review to the end](how-to/review.md))."""

NOT_RUN = """## What was not run, and why

- **Toponymy** is here by its layers of clusters alone: its names are asked of a language model, and none is asked here. When it is
  imported it wants a list of prices from the network; it is told not to. **EVoC** tells no words either.
- **Annif**: its backends *MLLM* and *STWFSA* match the words of a thesaurus, and the topics of Reuters are codes without one; *fastText*
  and the ensembles want compilers or TensorFlow; *SVC* gives one subject a document. Its models of sentences (NLTK's) would be fetched, so
  its words are cut without them.
- **topica**'s HLDA was not done after two minutes of a processor with 200 sweeps of 3,000 abstracts; its LDA is above.
- **TopMost** and its counts of the New York Times: they are fetched from the network, and are not at hand.
- **scikit-multilearn**'s ML-kNN does not run with a scikit-learn of today; the row says how it fails.
- BERTopic is installed without sentence-transformers (it would bring PyTorch): the vectors come from the package that
  `topiarist[encoder]` uses, and their time is counted."""


def results() -> dict[str, Any]:
    """What was found so far."""
    return json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}


def keep(found: dict[str, Any]) -> None:
    """Keep it; whoever reads meanwhile finds what was there before."""
    beside = FOUND.with_suffix(".new")
    beside.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    beside.replace(FOUND)


def write() -> None:
    """Write the page."""
    PAGE.write_text(rendered(results()), encoding="utf-8")
    print(f"written: {PAGE.relative_to(REPOSITORY)}")


def rendered(found: dict[str, Any]) -> str:
    """The page as Markdown."""
    topics = found.get("topics", {})
    parts = [HEAD, "## Words that belong together", *_words(topics), "## Collection by collection"]
    for name in NAMES:
        if name in topics:
            parts += _collection(TITLES[name], topics[name])
    parts += _ahead(topics)
    parts += _speed(found.get("speed", {}))
    parts += _labels(found)
    parts += _reviews(found.get("reviews", {}))
    parts += [*_features(found), NOT_RUN, *_whole(found.get("whole")), _versions(found)]
    return wrap_paragraphs("\n\n".join(parts) + "\n")


def _words(topics: dict[str, Any]) -> list[str]:
    """Coherence of ten words, all collections side by side, and who is ahead."""
    there = [name for name in NAMES if name in topics]
    rows = []
    for key in WORDS:
        cells = [_number(topics[name]["rows"].get(key, {}).get("npmi")) for name in there]
        sizes = [str(topics[name]["rows"].get(key, {}).get("topics", "–")) for name in there]
        rows.append(
            [TOPICS[key].title, *(f"{cell} ({size})" if cell else "–" for cell, size in zip(cells, sizes, strict=True))]
        )
    told = "NPMI of the ten words of every topic, in brackets how many topics."
    return [told, table(["", *(TITLES[name] for name in there)], rows)]


def _collection(title: str, place: dict[str, Any]) -> list[str]:
    rows = []
    for key, system in TOPICS.items():
        row = place["rows"].get(key)
        if row is None:
            continue
        if "not run" in row:
            rows.append([system.title, *[""] * 7, f"not run: {row['not run'][:90]}"])
            continue
        rows.append(
            [
                system.title, row.get("topics", ""), f"{row['nmi']:.2f}", _number(row.get("npmi")), _number(row.get("diversity")),
                _number(row.get("purity")), f"{row['left_out']:.0%}" if row["left_out"] >= 0.005 else "",
                _seconds(system, row, place), f"{row['megabytes']:.0f}",
            ]
        )  # fmt: skip
    head = ["", "topics", "NMI", "coherence", "diversity", "purity", "left out", "seconds", "MB"]
    return [f"**{title}**, {place['documents']:,} documents", table(head, rows)]


def _ahead(topics: dict[str, Any]) -> list[str]:
    """Where others are ahead of our default, by each figure."""
    lines = []
    for name in NAMES:
        rows = {key: row for key, row in topics.get(name, {"rows": {}})["rows"].items() if "nmi" in row}
        if "ours" not in rows:
            continue
        said = [_better(what, told, rows) for what, told in FIGURES]
        lines.append(f"- {TITLES[name]}. " + ("; ".join(one for one in said if one) or "Nowhere") + ".")
    told = "Peers with a better figure than Topiarist by default. Purity is of the documents that a system places; times without vectors."
    return ["## Where others are ahead", told, "\n".join(lines)] if lines else []


def _better(what: str, told: str, rows: dict[str, Any]) -> str:
    """Who has a better figure than our default, in words."""
    ours, sign = rows["ours"].get(what, 0.0), -1 if what in ("seconds", "megabytes") else 1
    form = ".0f" if what == "megabytes" else ".1f" if what == "seconds" else ".2f"
    ahead = [
        f"{TOPICS[key].title} {row[what]:{form}}"
        for key, row in rows.items()
        if not key.startswith("ours") and what in row and sign * row[what] > sign * ours
    ]
    return f"*{told}* (ours {ours:{form}}): {', '.join(ahead)}" if ahead else ""


def _seconds(system: System, row: dict[str, Any], place: dict[str, Any]) -> str:
    own = f"{row['seconds']:.1f}"
    return f"{own} + {place['encoding']:.0f} for vectors" if system.encodes and "encoding" in place else own


def _speed(speed: dict[str, Any]) -> list[str]:
    """Documents a second from texts to topics, of few and of many abstracts."""
    rows = []
    for name in (ABSTRACTS, YEAR):
        place = speed.get(name, {"rows": {}})
        for key, system in SPEED.items():
            row = place["rows"].get(key, {})
            if "seconds" in row:
                whole = row["seconds"] + (place["encoding"] if system.encodes else 0.0)
                figures = (f"{place['documents'] / whole:,.0f}", f"{whole:,.1f}", f"{row['megabytes']:.0f}")
                rows.append([f"{place['documents']:,}", system.title, *figures])
            elif "not run" in row:
                rows.append([f"{place['documents']:,}", system.title, f"not run: {row['not run']}", "", ""])
    told = (
        "Abstracts, from texts to topics with their words, processor time: counting and growing here, encoding, mapping, "
        "clustering, a hierarchy and c-TF-IDF there. Nearly all of BERTopic's time is the encoder; a GPU would take less."
    )
    head = ["abstracts", "", "documents a second", "seconds", "MB"]
    return ["## From texts to topics", told, table(head, rows), *_quiet()] if rows else []


def _quiet() -> list[str]:
    """The same on two quiet cores of another machine, as it was measured there (``comparison_quiet.json``)."""
    kept = json.loads(QUIET.read_text(encoding="utf-8"))
    rows = []
    for one in kept["runs"]:
        times = (f"{one['documents'] / one['clock']:,.0f}", f"{one['clock']:,.1f}", f"{one['processor']:,.1f}")
        rows.append([f"{one['documents']:,}", SPEED[one["system"]].title, *times])
    told = (
        f"Measured apart, by the clock, with two threads each on two quiet cores of another machine ({kept['machine']}); abstracts of "
        "another year:"
    )
    return [told, table(["abstracts", "", "documents a second", "seconds by the clock", "of the processor"], rows)]


def _labels(found: dict[str, Any]) -> list[str]:
    parts = []
    for kind, name, systems, told, what in (
        ("classes", BARE, CLASSES, "One class a document", "right"),
        ("several", "reuters21578", SEVERAL, "Several labels a document", "micro-F1"),
    ):
        place = found.get(kind, {}).get(name)
        if place is None:
            continue
        rows = []
        for key, system in systems.items():
            row = place["rows"].get(key, {})
            if "score" in row:
                rows.append([system.title, f"{row['score']:.3f}", f"{row['seconds']:.1f}", f"{row['megabytes']:.0f}"])
            elif "not run" in row:
                rows.append([system.title, f"not run: {row['not run'][:90]}", "", ""])
        text = f"**{told}**: {TITLES[name]}, two thirds of {place['documents']:,} documents taught, the others asked."
        parts += [text, table(["", what, "seconds", "MB"], rows)]
    return ["## Given categories", *parts] if parts else []


def _reviews(reviews: dict[str, Any]) -> list[str]:
    """What was read until 95% were found."""
    parts = []
    for name, place in reviews.items():
        rows = []
        for key, system in REVIEWS.items():
            row = place["rows"].get(key, {})
            if "score" in row:
                rows.append([system.title, f"{row['score']:.1%}", f"{row['seconds']:.1f}", f"{row['megabytes']:.0f}"])
            elif "not run" in row:
                rows.append([system.title, f"not run: {row['not run'][:90]}", "", ""])
        told = (
            f"{TITLES[name]}, {place['documents']:,} documents: the five largest labels of 1 to 10% of them, from one relevant and one "
            "other document, each fitted again after every judgement. Mean share that was read until 95% of the relevant ones were found. "
            "Which of the two may be stopped there, and when, is in [review to the end](how-to/review.md)."
        )
        parts += [told, table(["", "read", "seconds", "MB"], rows)]
    return ["## A review", *parts, LOST_REVIEW] if parts else []


def _whole(spent: dict[str, float] | None) -> list[str]:
    if spent is None:
        return []
    minutes = {name: f"{seconds / 60:.0f}" for name, seconds in spent.items()}
    kept = f" and {minutes['kept']} for vectors that were at hand from before" if spent.get("kept") else ""
    return [
        f"The whole run took {minutes['processor']} minutes of a processor{kept} ({minutes['clock']} by the clock, on a machine that "
        "others used too)."
    ]


def _features(found: dict[str, Any]) -> list[str]:
    """What was tried, and what the runs above have shown."""
    tried = next(iter(found.get("features", {}).values()), {"rows": {}})["rows"]
    alone = {
        "ours": ("ours",),
        "sklearn": ("nmf-25",),
        "gensim": ("gensim-lda",),
        "tomotopy": ("hlda",),
        "bertopic": ("bertopic",),
    }
    rows = []
    for key, system in FEATURES.items():
        row = tried.get(key, {})
        if not row:
            continue
        if "not run" in row:
            rows.append([system.title, f"not run: {row['not run'][:90]}", "", "", "", "", ""])
            continue
        shown = [
            place["rows"][one]
            for place in found.get("topics", {}).values()
            for one in alone[key]
            if one in place["rows"]
        ]
        shown = [one for one in shown if "nmi" in one]
        tree = any("purity" in one for one in shown)
        whole = all(one["left_out"] < 0.005 for one in shown)
        own = any(TOPICS[one].number == 0 for one in alone[key]) or key == "tomotopy"
        kept = ("yes" if row["kept"] else "no") if "kept" in row else "not tried"
        yes = ("yes" if one else "no" for one in (own, tree, whole, row["new"], row["again"]))
        rows.append([system.title, *yes, kept])
    head = [
        "",
        "finds the number of topics",
        "makes a tree",
        "a place for every document",
        "places new documents",
        "same seed, same topics",
        "same after save and load",
    ]
    told = (
        "Tried, not taken from their pages: 200 abstracts, five new ones, twice with one seed, written and read again. tomotopy's tree and number are "
        "HLDA's; BERTopic's tree joins its topics two by two."
    )
    return ["## What each can do", told, table(head, rows)] if rows else []


def _versions(found: dict[str, Any]) -> str:
    every: dict[str, str] = {}
    for kind in EVERY:
        for place in found.get(kind, {}).values():
            for row in place["rows"].values():
                every |= row.get("versions", {})
    return "Versions: " + ", ".join(f"{name} {version}" for name, version in sorted(every.items())) + "."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
