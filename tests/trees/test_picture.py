"""Pictures: nothing overlaps, nothing falls off the paper, and nothing is needed that is not there."""

import sys
from itertools import combinations

import numpy as np
import pytest

from topiarist.errors import InputError, ResourceError
from topiarist.trees import Tree, draw_curve, draw_tree

WORDS = ("oil", "barrel price", "crude", "opec", "output", "refinery", "quota", "minister of petroleum")


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def random_tree(n_nodes, seed):
    rng = np.random.default_rng(seed)
    return Tree((-1, *(int(rng.integers(max(0, node - 12), node)) for node in range(1, n_nodes))))


def words_of(tree):
    return [[f"{WORDS[(node + place) % 8]}" for place in range(6)] for node in range(len(tree))]


@pytest.mark.parametrize(
    "tree", [Tree.single(), Tree.star(5), Tree.balanced(2, 4), random_tree(60, 0), Tree((-1, 0, 1))]
)
@pytest.mark.parametrize("given_axes", [False, True])
def test_draw_tree_keeps_words_apart(pyplot, tree, given_axes):
    ax = pyplot.subplots(figsize=(8, 5))[1] if given_axes else None
    ax = draw_tree(tree, words_of(tree), np.arange(1, len(tree) + 1), ax=ax, title="Oil")
    ax.figure.canvas.draw()
    shown = [text for text in ax.texts if text.get_text()]
    boxes = [text.get_window_extent() for text in shown]
    frame = ax.figure.bbox
    assert len([text for text in shown if text.get_fontweight() == "bold"]) == len(tree)
    for box in boxes:
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
    for one, other in combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert width <= 1 or height <= 1  # a pixel, for the rounding of letters


def test_draw_tree_grows_with_leaves(pyplot):
    few, many = (draw_tree(Tree.star(n), words_of(Tree.star(n))).figure.get_figheight() for n in (10, 64))
    assert many > 5 * few


def test_draw_tree_shows_special_characters(pyplot):
    ax = draw_tree(Tree.star(2), [["$x", "y$"], ["a\nb\x1b", "<b>"], []])
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.texts] == ["$x", "· y$", "a b\ufffd", "· <b>", "2"]


def test_draw_tree_shortens_long_words(pyplot):
    ax = draw_tree(Tree.star(1), [["x" * 500, "y"], ["a"] * 500])
    first, leaf, rest = ax.texts
    assert first.get_text().endswith("…")
    assert len(first.get_text()) < 60
    assert leaf.get_text() == "a"
    assert len(rest.get_text()) < 300


def test_draw_tree_branch_width_and_colour(pyplot):
    tree = Tree.balanced(2, 2)
    ax = draw_tree(tree, words_of(tree), [8, 4, 4, 1, 3, 0, 4])
    thickness = {node: patch.get_linewidth() for node, patch in zip(tree.depth_first(), ax.patches, strict=True)}
    assert thickness[0] > thickness[1] == thickness[2] > thickness[4] > thickness[3] > thickness[5] > 0
    assert len({patch.get_edgecolor() for patch in ax.patches}) == 3  # two branches and the trunk


def test_draw_curve_marks_selected_tree(pyplot):
    ax = draw_curve(None, [24, 8, 32, 16], [3707, 4067, 3690, 3796], 0)
    line, mark = ax.get_lines()
    assert line.get_xdata().tolist() == [8, 16, 24, 32]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (24, 3707)
    (band,) = ax.patches
    assert band.get_extents().transformed(ax.transData.inverted()).intervaly == pytest.approx([3690, 3690 * 1.01])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["within 1% of the lowest", "24 leaves"]
    assert mark.get_label() == "24 leaves"
    other = pyplot.subplots()[1]
    assert draw_curve(other, [1], [2.0], 0) is other


def test_draw_curve_shows_charge(pyplot):
    ax = draw_curve(None, [2, 1, 2], [90.0, 100.0, 89.0], 2, perplexity=[80.0, 100.0, 79.0])
    without, line, mark = ax.get_lines()
    assert without.get_ydata().tolist() == [100, 80, 79]
    assert line.get_ydata().tolist() == [100, 90, 89]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (2, 89)
    assert "without the charge for levels" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(draw_curve(None, [1, 2], [3.0, 2.0], 0, perplexity=[3.0, 2.0]).get_lines()) == 2  # nothing was charged


def test_drawing_rejects_invalid_arguments(pyplot):
    with pytest.raises(InputError, match="3 nodes, got 1"):
        draw_tree(Tree.star(2), [["a"]])
    with pytest.raises(InputError, match="2,000 nodes to draw"):
        draw_tree(Tree.star(5000), [["a"]] * 5001)
    with pytest.raises(InputError, match="expected 3 sizes of at least 0"):
        draw_tree(Tree.star(2), [["a"]] * 3, [1, 2])
    with pytest.raises(InputError, match="perplexity for each number"):
        draw_curve(None, [1, 2], [1.0], 0)
    with pytest.raises(InputError, match="selected tree among 2"):
        draw_curve(None, [1, 2], [1.0, 2.0], 2)


def test_drawing_requires_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    for make in (lambda: draw_tree(Tree.single(), [["a"]]), lambda: draw_curve(None, [1], [1.0], 0)):
        with pytest.raises(ResourceError) as raised:
            make()
        assert raised.value.hint == "Run pip install 'topiarist[plot]'."
