"""What objects show of themselves: short in a console, small and safe in a notebook."""

import re
import sys
import types

import numpy as np
import pytest

from topiarist import CAM, GGM, HPLC, HPLSA, LSI, PLC, PLSA, PMM, CategoryLearner, Collection, Corpus, Recipe, Tree
from topiarist.cards import MAX_ITEMS, Item, render_card

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)">'
ESTIMATORS = (CAM, GGM, HPLC, HPLSA, LSI, PLC, PLSA, PMM, CategoryLearner)


def is_safe(html):
    """No script, nothing loaded, nothing that a browser would run."""
    return not re.search(r"<(script|img|link|iframe|svg)|\son\w+=|javascript:|https?://|@import|url\(", html)


def corpus():
    rng = np.random.default_rng(0)
    words = [["oil", "barrel", "tanker", "opec"], ["goal", "league", "striker", "coach"]]
    return Corpus.from_texts([" ".join(rng.choice(words[n % 2], 12)) for n in range(40)])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_estimators_are_short(estimator):
    made = estimator()
    assert len(repr(made).splitlines()) <= 3
    html = made._repr_html_()
    assert is_safe(html)
    assert len(html) < 5_000
    assert f"{estimator.__name__} (not fitted)" in html
    assert made._repr_mimebundle_()["text/html"] == html


def test_a_fitted_estimator_says_so():
    model = PLSA(2, random_state=0, max_iter=5, word_smoothing=0.01, component_smoothing=0.05).fit(corpus().counts)
    html = model._repr_html_()
    assert "PLSA (fitted)" in html
    assert "n_features_in: <b>8</b>" in html
    assert len(repr(model).splitlines()) <= 3
    assert repr(PLSA(2)) == "PLSA(n_components=2)"


def test_every_documented_object_shows_itself(planted):
    shown = (
        planted, planted.tree, planted.outline.tree, corpus(), planted.over_time("month"), planted.by_group("desk"),
        planted.tables.topics,
    )  # fmt: skip
    for one in shown:
        assert len(repr(one).splitlines()) <= 3, type(one)
        assert len(repr(one)) < 300, type(one)
        html = one._repr_html_()
        assert is_safe(html), type(one)
        assert len(html) < 20_000, type(one)
    assert "612 documents" in repr(planted)
    assert "dates: <b>2014 to 2014-12-" in planted._repr_html_()


def test_what_documents_say_is_nothing_but_text(tmp_path):
    texts = [f"{HOSTILE} {'oil barrel tanker' if n % 2 else 'goal league striker'} {n % 7}" for n in range(40)]
    with Collection.grow(texts, tmp_path / f"a{HOSTILE[:8].replace('/', '')}", Recipe(topics=2)) as collection:
        collection.shape([{"rename": {"topic": 1, "name": HOSTILE}}])
        html = collection._repr_html_()
        assert "&lt;script&gt;" in html
        assert is_safe(html.replace("&lt;img src=x onerror=", ""))
        assert is_safe(collection.tables.topics._repr_html_().replace("onerror=", ""))


def test_cards_are_cut():
    html = render_card("Long", {"number": 1_234, "share": 0.123456}, items=(Item(f"item {n}") for n in range(1_000)))
    assert html.count("item ") == MAX_ITEMS
    assert "1,234" in html
    assert "0.1235" in html
    assert render_card("x" * 500).count("x") < 100


def test_a_tree_names_its_nodes():
    html = (
        Tree.from_paths(["a/b", "a/c"])._repr_html_() if hasattr(Tree, "from_paths") else Tree((-1, 0, 0))._repr_html_()
    )
    assert "leaves: <b>2</b>" in html


class Shown:
    """A display of a notebook: every picture that it showed."""

    def __init__(self):
        self.pictures = []

    def display(self, html, display_id):
        assert display_id
        self.pictures.append(html.data)
        return self

    def update(self, html):
        self.pictures.append(html.data)


@pytest.fixture
def notebook(monkeypatch):
    """As if IPython had a kernel, with or without the package."""
    shown = Shown()
    shell, display = types.SimpleNamespace(kernel=object()), types.ModuleType("IPython.display")
    display.display, display.HTML = shown.display, lambda data: types.SimpleNamespace(data=data)
    loaded = types.ModuleType("IPython")
    loaded.get_ipython, loaded.display = lambda: shell, display
    monkeypatch.setitem(sys.modules, "IPython", loaded)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_grow_says_in_a_notebook_how_far_it_is(notebook, capsys):
    texts = [f"{word} {word} sea {number}" for number, word in enumerate(["boat", "court"] * 20)]
    with Collection.grow(texts, recipe=Recipe(topics=2)):
        pass
    first, last = notebook.pictures[0], notebook.pictures[-1]
    assert "Growing a collection" in first
    assert "Growing the tree" in last
    assert "s</span>" in last
    assert capsys.readouterr().err == ""
    shown = len(notebook.pictures)
    Collection.grow(texts, recipe=Recipe(topics=2), verbose=False).close()
    assert len(notebook.pictures) == shown


def test_a_fit_draws_a_bar_in_a_notebook_where_it_is_asked_to(notebook, capsys):
    PLSA(n_components=2, random_state=0, verbose=1).fit(np.eye(8, dtype=int) * 3 + 1)
    assert any("width:" in picture and "step" in picture for picture in notebook.pictures)
    assert "step" not in notebook.pictures[-1]
    assert capsys.readouterr().err == ""
