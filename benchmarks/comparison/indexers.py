"""Annif's backends on several labels a document, through its own projects, vocabulary and training.

A backend ranks subjects; how many are told and from which score is chosen, as ``annif optimize`` does, by the best
micro-F1: on a tenth of what teaches, before it is taught all of it. Words are cut by NLTK's tokeniser without its model
of sentences, which would be fetched from the network.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.comparison.answers import Fit
from benchmarks.comparison.label_peers import several_split
from benchmarks.comparison.piles import Pile

LIMITS, SCORES = (1, 2, 3, 5), tuple(place / 20 for place in range(20))
SETTINGS = {"tfidf": "limit=20", "omikuji": "limit=20\nmin_df=2"}


def annif(backend: str, pile: Pile, number: int) -> Fit:
    """One backend, trained and asked."""
    import nltk.data
    import nltk.tokenize

    nltk.data.find = lambda name: name
    nltk.tokenize.word_tokenize = partial(nltk.tokenize.word_tokenize, preserve_line=True)
    folder = Path(tempfile.mkdtemp())
    kept, indicators, taught = several_split(pile)
    texts = [pile.texts[row] for row in kept]
    (folder / "projects.cfg").write_text(_project(backend), encoding="utf-8")
    lines = [f"<http://example.org/{place}>\tlabel{place}" for place in range(indicators.shape[1])]
    (folder / "subjects.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.environ |= {"ANNIF_PROJECTS": str(folder / "projects.cfg"), "ANNIF_DATADIR": str(folder / "data")}
    project = _opened(folder)

    def fit() -> dict[str, Any]:
        from sklearn.metrics import f1_score

        teaching = np.flatnonzero(taught)
        tenth = teaching[::10]
        _train(project, texts, indicators, np.setdiff1d(teaching, tenth))
        scores = _scores(project, texts, indicators, tenth)
        found = {
            (limit, least): f1_score(indicators[tenth], _told(scores, limit, least), average="micro", zero_division=0)
            for limit in LIMITS
            for least in SCORES
        }
        limit, least = max(found, key=lambda one: found[one])
        _train(project, texts, indicators, teaching)
        asked = np.flatnonzero(~taught)
        told = _told(_scores(project, texts, indicators, asked), limit, least)
        return {"score": float(f1_score(indicators[asked], told, average="micro", zero_division=0))}

    return fit


annif_tfidf, annif_omikuji = partial(annif, "tfidf"), partial(annif, "omikuji")


def _project(backend: str) -> str:
    settings = ("name=one", "language=en", f"backend={backend}", "analyzer=snowball(english)", "vocab=labels(en)")
    return "\n".join(["[one]", *settings, SETTINGS[backend], ""])


def _opened(folder: Path) -> Any:
    """The project, with its vocabulary."""
    import annif as package
    import annif.registry
    from annif.vocab import VocabFileTSV

    app = package.create_flask_app("annif.default_config.Config")
    app.app_context().push()
    annif.registry.initialize_projects(app)
    project = annif.registry.get_project("one")
    project.vocab.load_vocabulary(VocabFileTSV(str(folder / "subjects.tsv"), "en"))
    return project


def _train(project: Any, texts: list[str], indicators: np.ndarray, rows: np.ndarray) -> None:
    from annif.corpus import DocumentList
    from annif.corpus.types import Document, SubjectSet

    project.train(
        DocumentList([Document(texts[row], SubjectSet(np.flatnonzero(indicators[row]).tolist())) for row in rows]),
        jobs=1,
    )


def _scores(project: Any, texts: list[str], indicators: np.ndarray, rows: np.ndarray) -> np.ndarray:
    from annif.corpus.types import Document

    found = np.zeros((len(rows), indicators.shape[1]))
    for place, own in enumerate(project.suggest([Document(texts[row]) for row in rows])):
        for one in own:
            found[place, one.subject_id] = one.score
    return found


def _told(scores: np.ndarray, limit: int, least: float) -> np.ndarray:
    """The labels that are told: so many at most, none below the score."""
    rank = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")
    return ((rank < limit) & (scores >= max(least, 1e-9))).astype(np.int64)
