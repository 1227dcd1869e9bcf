"""Topics in messages: by their names, never by a number alone; those that are gone as the log knows them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

import numpy as np

from topiarist.app.explorer.fit_dates import day
from topiarist.app.explorer.view import View
from topiarist.collection import contents
from topiarist.collection.state import SHARES, State
from topiarist.errors import UsageError
from topiarist.store import edit_log

LOOKED_BACK = 200  # steps
_NUMBERED = re.compile(r"#(\d{1,9})\b")
_MISSING = re.compile(r"there is no topic (\d{1,9})$")


class LeftOutError(UsageError):
    """A document that is not there since its file was not read."""


@dataclass(frozen=True)
class Gone:
    """A topic of an earlier tree."""

    name: str
    day: str  # of that tree
    now: int | None  # the node that most of its documents are under

    @property
    def said(self) -> str:
        """What an address with it meant."""
        return f"Topic “{self.name}” belonged to the model of {self.day}."


def missing(error: UsageError) -> int | None:
    """The topic that is not there, if that is what an error says."""
    found = _MISSING.search(error.message)
    return int(found[1]) if found else None


def gone(view: View, topic: int) -> Gone | None:
    """What a topic was that is not there any more; None if no tree had it, or nobody remembers."""
    database = view.collection.generation.database
    for entry in islice(edit_log.walk(database), LOOKED_BACK):
        body = edit_log.state(database, entry.after)
        if edit_log.FORGOTTEN in body:
            continue
        state = State.from_dict(body)
        if topic in state.shape.node_of:
            words = state.shape.name(topic)
            return Gone(words, day(entry.time), _now(view, state, topic))
    return None


def unknown(view: View, topic: int) -> str:
    """What is said of a topic of which nothing is found: that there was none, only where nothing was forgotten."""
    database = view.collection.generation.database
    states, edits = (database.one(f"SELECT count(*) FROM {table}") for table in ("states", "edits"))  # noqa: S608
    if states != (len(edit_log.remembered(database)),) or (edits is not None and edits[0] > LOOKED_BACK):
        return f"There is no topic {topic} now. Which topics there were in earlier trees is not known any more."
    return f"No tree of this collection had this topic ({topic})."


def _now(view: View, state: State, topic: int) -> int | None:
    """Where most documents of a topic of an earlier state are now."""
    shares = contents.stacked([contents.read_matrix(view.collection.part(name)) for name in state.pieces(SHARES)])
    below = state.shape.tree.path_mask(state.shape.class_nodes)[:, state.shape.node(topic)]
    rows = np.flatnonzero(shares @ below.astype(np.float64) >= 0.5)
    rows = rows[rows < view.n_docs]
    return int(np.bincount(view.homes[rows]).argmax()) if len(rows) else None


def spoken(view: View, error: UsageError) -> tuple[str, str]:
    """A message and its hint as a page says them: with a capital letter, and with names in place of numbers."""

    def name(found: re.Match[str]) -> str:
        node = view.shape.node_of.get(int(found[1]))
        return found[0] if node is None else f"“{view.names[node]}”"

    topic, message, hint = missing(error), _NUMBERED.sub(name, error.message), _NUMBERED.sub(name, error.hint or "")
    if topic is not None:
        was = gone(view, topic)
        message = unknown(view, topic) if was is None else was.said
        return message, "one of the tree"
    return f"{message[:1].upper()}{message[1:]}.", hint
