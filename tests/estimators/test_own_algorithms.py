"""The papers' own algorithms, as the pages of the models write them, are settings that fit."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import topiarist

PAGES = Path(__file__).parents[2] / "docs" / "models"
VALUES = {"K": 2, "λ": 0.1, "tree": topiarist.Tree.from_paths(["x/a", "x/b", "y/c"])}


def list_algorithms():
    """Return the page and the call of each estimator in a paragraph on a paper's own algorithm."""
    calls = []
    for page in sorted(PAGES.glob("*.md")):
        for paragraph in re.findall(r"\*\*The paper's own algorithm\*\* is.*?\n\n", page.read_text("utf-8"), re.DOTALL):
            calls += [(page.stem, call) for call in re.findall(r"`([A-Z]\w+\([^`]*\))`", paragraph)]
    return calls


def make_estimator(text):
    """Return the estimator of a call in which K, λ and tree stand for values."""
    call = ast.parse(text, mode="eval").body
    read = [VALUES[part.id] if isinstance(part, ast.Name) else ast.literal_eval(part) for part in call.args]
    settings = {
        part.arg: VALUES[part.value.id] if isinstance(part.value, ast.Name) else ast.literal_eval(part.value)
        for part in call.keywords
    }
    return getattr(topiarist, call.func.id)(*read, **settings)


def test_every_model_of_a_paper_has_own_algorithm():
    assert {page for page, _ in list_algorithms()} == {"cam", "fisher", "ggm", "hplc", "hplsa", "plsa", "pmm"}


@pytest.mark.parametrize(("page", "call"), list_algorithms())
def test_own_algorithm_fits(page, call):
    rng = np.random.default_rng(0)
    model, kinds = make_estimator(call), rng.integers(3, size=60)
    counts = rng.poisson(0.2 + 2.0 * np.kron(np.eye(3), np.ones(4))[kinds]).astype(float)
    labels = np.array(list("abc"))[kinds]
    targets = {"hplc": (labels,), "pmm": (np.eye(3, dtype=int)[kinds],), "ggm": (np.where(kinds < 2, kinds, -1),)}
    fitted = model.fit(rng.normal(size=(60, 2)) + kinds[:, None] if page == "ggm" else counts, *targets.get(page, ()))
    assert fitted.n_iter_ >= 0
