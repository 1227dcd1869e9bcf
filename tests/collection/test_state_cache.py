"""Cached values of a state: computed once, inherited by the next state if their dependency is the same."""

from topiarist.collection.state_cache import FORM, PARTS, STATE, StateCache, cached


class Figures:
    def __init__(self):
        self.cache, self.computed = StateCache(), []

    def compute(self, name):
        self.computed.append(name)
        return name

    @cached(STATE)
    def state(self):
        return self.compute("state")

    @cached(PARTS)
    def parts(self):
        """Values of parts."""
        return self.compute("parts")

    @cached(FORM)
    def form(self):
        return self.compute("form")


def read(figures):
    return figures.state, figures.parts, figures.form


def test_values_are_computed_once():
    figures = Figures()
    assert read(figures) == read(figures) == ("state", "parts", "form")
    assert figures.computed == ["state", "parts", "form"]
    assert Figures.parts.__doc__ == "Values of parts."


def test_next_state_inherits_values_of_same_dependencies():
    earlier, later, last = Figures(), Figures(), Figures()
    read(earlier)
    later.cache.inherit(earlier.cache, PARTS)
    assert (read(later), later.computed) == (read(earlier), ["state", "form"])
    last.cache.inherit(later.cache, PARTS, FORM)
    assert (read(last), last.computed) == (read(earlier), ["state"])


def test_state_inherits_nothing_that_was_not_computed():
    earlier, later = Figures(), Figures()
    later.cache.inherit(earlier.cache, STATE, PARTS, FORM)
    assert later.cache.values == {}
