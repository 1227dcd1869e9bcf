"""The registry of tree models: what it says of each kind is true, and a model made by the page is one of them."""

import inspect
import re
import sys
import types
from pathlib import Path

import pytest

import topiarist
from topiarist import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.errors import UsageError
from topiarist.estimators.tree_models import TREE_MODELS, describe_model, join_names, list_online_models

PAGE = Path(__file__).parents[2] / "docs" / "design" / "add-a-model.md"


@pytest.fixture
def registry():
    before = dict(TREE_MODELS)
    yield TREE_MODELS
    TREE_MODELS.clear()
    TREE_MODELS.update(before)


@pytest.mark.parametrize("name", list(TREE_MODELS))
def test_what_the_registry_says_is_true(name):
    kind = TREE_MODELS[name]
    estimator = kind.load()
    assert getattr(topiarist, kind.class_name, estimator) is estimator
    (first, leaves), *others = list(inspect.signature(estimator).parameters.items())
    assert first.startswith("n_")
    assert leaves.default is None
    assert {"random_state", "n_threads", "verbose"} <= {other for other, _ in others}
    assert kind.devices[0] == "cpu"
    assert kind.growths[0] == "guided"
    parameters = dict(others)
    assert (len(kind.growths) > 1) == ("growth" in parameters)
    assert bool(kind.topic_mixes) == ("topic_mix" in parameters)
    assert kind.online == hasattr(estimator, "partial_fit") == hasattr(estimator, "continue_fit")
    assert kind.resumes == ("journal" in inspect.signature(estimator.fit).parameters)
    assert describe_model(estimator()) == kind.description
    Recipe(model=name)


def test_names_stand_in_sentences():
    assert join_names() == "cam, hplsa or ggm"
    assert join_names(list_online_models(), "and") == "cam and hplsa"
    with pytest.raises(UsageError, match="no model called 'oak'"):
        Recipe(model="oak")
    with pytest.raises(UsageError, match="models cam and hplsa"):
        Recipe(model="ggm", online=True)


def test_a_model_made_by_the_page_grows_a_collection(registry, tmp_path, monkeypatch):
    """The page is followed literally: its blocks, one after the other, and nothing else."""
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("add_a_model")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        exec(compile(block, str(PAGE), "exec", dont_inherit=True), vars(module))
    with Collection.open("toy.topiary") as collection:
        assert collection.state.model == "toy"
        assert type(collection.model) is module.MixtureTree
        assert describe_model(collection.model) == "a mixture of words"
        assert {len(collection.tree_model.class_nodes), collection.shares.shape[1]} == {3}
        assert len(collection.search("choir", by="meaning"))
        collection.shape(["rename 1 Music"])
        assert not collection.hard_to_place.any()
