"""docs/comparison.md, from what was found (``benchmarks/comparison.json``)."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.comparison.piles import ABSTRACTS, BARE, NAMES, TITLES
from benchmarks.comparison.systems import CLASSES, FEATURES, SEVERAL, SPEED, TOPICS, System
from benchmarks.findings import table
from benchmarks.paths import REPOSITORY

FOUND = REPOSITORY / "benchmarks" / "comparison.json"
PAGE = REPOSITORY / "docs" / "comparison.md"
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
topics must be told, it is 25. **One seed each, rows from several runs on a machine where others were at work**: read the order of magnitude. Time is
processor time of the fit, compiled before, memory the peak of the process. Rows that we lose stay.

- **NMI**: agreement of the documents' topics (leaves) with the classes; more topics than classes cost.
- **coherence**: NPMI of the ten words of each topic, in the documents themselves; **diversity**: the share of different words among
  them. *topics* counts every node of a tree but the root. Ours are the words that the pages show, which are chosen by the documents they
  occur in; those of the others are the most probable or heaviest ones, as they show them. That choice is a part of our lead.
- **purity**: dendrogram purity of the tree with the families of the classes, where there is a tree; documents that a system leaves
  out are left out.
- **20 Newsgroups, bare** is without headers, footers and quotations, by scikit-learn's own functions."""

NOT_RUN = """## What was not run, and why

- **Toponymy** and **EVoC**: the environment of the first was not complete after forty minutes on this busy machine; EVoC 0.3.2
  installs, and its fit had not ended when the processors were needed. `make compare` runs EVoC.
- **ASReview** is compared in [review to the end](how-to/review.md): until 95 % are found, seven topics of Reuters take 151 documents here
  and 157 with ASReview 3.0.8 on average, five of OHSUMED **1,256 and 1,148**.
- **Annif** 1.4.3 installs (500 MB with what it needs); its backends were not run: they want a project, a vocabulary and a training
  of their own for each.
- **topica**, **TopMost** and its counts of the New York Times: not run.
- BERTopic is installed without sentence-transformers (it would bring PyTorch): the vectors come from the package that
  `topiarist[encoder]` uses, and their time is counted."""


def results() -> dict[str, Any]:
    """What was found so far."""
    return json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}


def keep(found: dict[str, Any]) -> None:
    """Keep it."""
    FOUND.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


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
    parts += _speed(found.get("speed", {}).get(ABSTRACTS))
    parts += _labels(found)
    parts += [*_features(found), NOT_RUN, _versions(found)]
    return "\n\n".join(parts) + "\n"


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


def _speed(place: dict[str, Any] | None) -> list[str]:
    if place is None:
        return []
    rows = []
    for key, system in SPEED.items():
        row = place["rows"].get(key, {})
        if "seconds" in row:
            whole = row["seconds"] + (place["encoding"] if system.encodes else 0.0)
            rows.append([system.title, f"{place['documents'] / whole:,.0f}", f"{whole:.1f}", f"{row['megabytes']:.0f}"])
    told = (
        f"{place['documents']:,} abstracts, from texts to topics with their words, one core: counting and growing here, encoding, mapping, "
        "clustering and c-TF-IDF there. Nearly all of BERTopic's time is the encoder; its row is that of the abstracts above, the same documents and the same steps. On a quiet core 3,000 abstracts were not done after 225 s, and ours after 4.5 s; a GPU would take less."
    )
    return ["## From texts to topics", told, table(["", "documents a second", "seconds", "MB"], rows)]


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
    for kind in found.values():
        for place in kind.values():
            for row in place["rows"].values():
                every |= row.get("versions", {})
    return "Versions: " + ", ".join(f"{name} {version}" for name, version in sorted(every.items())) + "."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
