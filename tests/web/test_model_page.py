"""The model page: which tree its numbers belong to, what it warns of, how to make it again."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.web.conftest import documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Merge
from topiarist.collection.shape.history import apply_edits, undo_last_step
from topiarist.progress import ProgressReporter
from topiarist.storage import facts
from topiarist.text.documents import Problem
from topiarist.web.http.server import explorer
from topiarist.web.pages import model
from topiarist.web.view import View


@pytest.fixture
def view(copied):
    with Collection.open(copied) as collection:
        yield View(collection)


def test_the_line_of_the_last_fit_is_that_of_the_model(view):
    page = model.load(view, model.Ask())
    known = view.collection.model.history_
    assert len(known) > 1
    assert page.objective == tuple((place + 1, float(value)) for place, value in enumerate(known))


def test_words_of_topics_are_rarer_than_averages_below_the_root(view):
    levels = model.load(view, model.Ask()).levels
    assert [one.level for one in levels] == list(range(view.tree.depth + 1))
    assert sum(one.topics for one in levels) == len(view.tree)
    frequency = view.collection.counting.vocabulary.document_frequency
    assert all(one.node_idf >= one.average_idf for one in levels[1:])
    assert levels[-1].node_idf > levels[-1].average_idf
    for words, told in ((levels[0].node_words, levels[0].node_idf), (levels[0].average_words, levels[0].average_idf)):
        assert told == pytest.approx(np.mean([np.log(view.n_docs / frequency[view.columns[word]]) for word in words]))


def test_of_many_rounds_some_are_drawn_and_the_last_is_among_them(view, monkeypatch):
    monkeypatch.setattr(model, "compare_node_words", lambda view: ())  # of a model that is none
    view.collection.cache.values["model"] = SimpleNamespace(history_=[float(one) for one in range(1_234)])
    drawn = model.load(view, model.Ask()).objective
    assert len(drawn) <= model.STEPS + 1
    assert drawn[0] == (1, 0.0)
    assert drawn[-1] == (1_234, 1_233.0)


def test_after_a_fit_the_curve_is_said_to_be_of_the_tree_before(tmp_path):
    with Collection.grow(documents(300), tmp_path / "grown.topiary") as collection:
        before = model.load(View(collection), model.Ask())
        leaves = collection.outline.tree.leaves
        topics = [collection.outline.topics[leaf] for leaf in leaves[:2]]
        collection.shape([Merge(tuple(topics))])
        after = model.load(View(collection), model.Ask())
    assert before.curve == after.curve != ()
    assert "were chosen" in before.curve_said
    assert "is not among them" in after.curve_said
    named = [{one.name for one in page.figures} for page in (before, after)]
    assert named[0] - named[1] == {"held-out perplexity"}
    assert "later fit" in after.sentence
    assert "later fit" not in before.sentence
    assert after.reason == ""


def test_topics_of_the_same_words_are_named_with_a_way_to_merge_them(view):
    one, two = view.tree.leaves[:2]
    nodes = list(view.collection.tree.nodes)
    nodes[two] = replace(nodes[two], words=nodes[one].words)
    view.collection.cache.values["tree"] = replace(view.collection.tree, nodes=tuple(nodes))
    warned = model.load(view, model.Ask()).warnings[0]
    n = len(nodes[one].words)
    assert warned.text == f"Two topics share {n} of {n} words. Consider merging them."
    assert [choice.name for choice in warned.topics] == [view.names[one], view.names[two]]
    assert "edit=merge" in warned.address


def test_the_model_is_called_by_what_was_fitted_last(tmp_path):
    with Collection.grow(documents(120), tmp_path / "grown.topiary", Recipe(model="ggm", topics=4)) as collection:
        assert model.load(View(collection), model.Ask()).sentence.startswith(
            "A mixture of Gaussians with its hierarchy"
        )
        apply_edits(collection, ())
        after = model.load(View(collection), model.Ask()).sentence
    assert after.startswith("A hierarchical mixture with ")
    assert "later fit" in after


class Stopper(ProgressReporter):
    """Stops a fit after some steps."""

    def __init__(self, steps):
        self.steps = steps

    def report(self, event):
        if event.done >= self.steps:
            raise KeyboardInterrupt


def test_a_fit_that_was_stopped_is_said_to_be_until_it_is_fitted_again(copied):
    said = "The last fit was stopped after 1 iteration. Fit again for a better tree."
    with Collection.open(copied) as collection:
        topics = [collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves[:2]]
        apply_edits(collection, [Merge(tuple(topics))], refit=False)
        assert not [one for one in model.load(View(collection), model.Ask()).warnings if one.posts]
        apply_edits(collection, (), reporter=Stopper(1))
        page = model.load(View(collection), model.Ask())
        assert page.warnings[0] == model.FitWarning(said, (), "/refit", "Fit again", True)
        assert page.history[0].what == "fitted again, stopped after 1 iteration"
        for read_only in (False, True):
            with TestClient(explorer(copied, read_only=read_only), base_url="http://127.0.0.1") as client:
                text = client.get("/model").text
            assert said in text
            assert ("<button>Fit again</button>" in text) != read_only
        apply_edits(collection, ())
        page = model.load(View(collection), model.Ask())
        assert not [one for one in page.warnings if one.posts]
        assert page.history[0].what == "fitted again"
        undo_last_step(collection)
        assert model.load(View(collection), model.Ask()).warnings[0].text == said


def test_words_that_do_not_go_together_are_warned_of(view):
    assert not [one for one in model.load(view, model.Ask()).warnings if "coherence" in one.text]
    nodes = tuple(replace(node, coherence=0.04) for node in view.collection.tree.nodes)
    view.collection.cache.values["tree"] = replace(view.collection.tree, nodes=nodes)
    assert "Low coherence (0.04)" in model.load(view, model.Ask()).warnings[0].text


def test_what_was_not_read_is_told_with_its_reason(copied):
    with Collection.open(copied) as collection, collection.folder.writing() as generation:
        many = [Problem(f"{number}.pdf", "it is encrypted") for number in range(25)]
        facts.add_problems(generation.database, many)
    with TestClient(explorer(copied), base_url="http://127.0.0.1") as client:
        text, data = client.get("/model").text, client.get("/model.json").json()
    assert data["n_problems"] == 25
    assert "25 of 425 files, rows or dates were skipped" in data["warnings"][0]["text"]
    assert 'href="#not-read"' in text
    assert "25 files, rows or dates skipped or incomplete; the first 20 (<a" in text
    assert '<th scope="row">0.pdf</th><td>it is encrypted</td>' in text
