"""Pictures are axes of matplotlib that somebody can go on with."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from topiarist import Collection, plot_compare, plot_curve, plot_time, plot_tree
from topiarist.errors import InputError, UsageError
from topiarist.estimators.tree.curve import Curve


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_a_tree_is_drawn(planted):
    assert isinstance(plot_tree(planted), Axes)
    assert isinstance(plot_tree(planted.tree, detail="coarse"), Axes)
    with pytest.raises(InputError, match="TopicTree, got int"):
        plot_tree(3)


def test_topics_over_time_are_drawn_with_their_bands(planted):
    given = pyplot.subplots()[1]
    axes = plot_time(planted, given, by="month", n_topics=2)
    assert axes is given
    assert len(axes.collections) == 2  # the bands
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(names) == 2
    assert axes.get_ylabel() == "% of the documents of a month"
    bursting = plot_time(planted.over_time("month"))
    assert [line.get_marker() for line in bursting.lines].count("o") == 1


def test_a_curve_is_drawn(planted):
    curve = Curve([1, 2, 3], [9.0, 7.0, 8.0], [9.0, 7.1, 8.2], 1)
    assert isinstance(plot_curve(curve), Axes)
    assert isinstance(plot_curve(planted), Axes)
    with pytest.raises(InputError, match="without a curve"):
        plot_curve(planted.over_time("month"))


def test_two_trees_are_compared(planted, planted_path):
    with Collection.open(planted_path) as other:
        axes = plot_compare(planted, other)
    (image,) = axes.images
    assert image.get_array().diagonal().min() > 0.95
    assert axes.get_title() == "612 documents in both"


def test_without_dates_there_is_nothing_to_draw(tmp_path):
    from topiarist import Recipe

    texts = [f"{'oil barrel tanker' if n % 2 else 'goal league striker'} {n % 7}" for n in range(40)]
    with (
        Collection.grow(texts, tmp_path / "plain.topiary", Recipe(topics=2)) as plain,
        pytest.raises(UsageError, match="no document has a date"),
    ):
        plot_time(plain)
