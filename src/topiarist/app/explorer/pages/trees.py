"""How do two trees differ?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from topiarist.app.explorer.pages.other_trees import Both, Other, both_of, chosen, level_of, others
from topiarist.app.explorer.pages.tree_pairs import Ask, Beside, Move, PairList, Row, TreeTopic
from topiarist.app.explorer.pages.tree_streams import Picture, picture
from topiarist.app.explorer.values import Choice, Paging, counted, paging
from topiarist.app.explorer.view import View
from topiarist.errors import InputError
from topiarist.measures.side_by_side import ALONE, CHANGED, JOINED, SAME, SPLIT, SideBySide

__all__ = ["Ask", "TreesPage", "load"]

ROWS = 30  # topics on a page of the list


@dataclass(frozen=True)
class TreesPage:
    """Two trees side by side."""

    sentence: str
    detail: str
    others: tuple[Other, ...]
    other: str  # key of the chosen one
    level: int | None
    show: str
    left: str
    right: str
    levels: tuple[Choice, ...] = ()
    shows: tuple[Choice, ...] = ()
    rows: tuple[Row, ...] = ()
    new: tuple[TreeTopic, ...] = ()
    paging: Paging | None = None
    picture: Picture | None = None
    moves: tuple[Move, ...] = ()
    pair: PairList | None = None
    back: str = ""  # to both trees, from one topic or a pair


def load(view: View, ask: Ask) -> TreesPage:
    """Fill the page."""
    other = chosen(view, ask.with_)
    if other is None:
        said = "There is nothing to compare this tree with: it was not changed since it was grown."
        return TreesPage(said, "", (), "", None, "all", "", "")
    known = others(view)
    try:
        both = both_of(view, other)
    except InputError as error:  # no document in common
        said = f"{error.message[:1].upper()}{error.message[1:]}."
        return TreesPage(said, "", known, other.key, ask.level, ask.show, "", "")
    side = level_of(view, both, ask.level)
    page = Beside(view, ask, other, both, side)
    if ask.left is not None and ask.right is not None:
        pair = page.pair(ask.left, ask.right)
        said = f"{counted(pair.partner.documents, 'document')} {'lies' if pair.partner.documents == 1 else 'lie'} "
        said += f"under {pair.left.name} at the left and under {pair.partner.topic.name} at the right."
        return TreesPage(
            said, "", known, other.key, ask.level, ask.show, both.a.title, both.b.title, pair=pair,
            back=page.address(),
        )  # fmt: skip
    if ask.left is not None:
        row = page.one(ask.left)
        said = f"The {counted(row.topic.documents, 'document')} of {row.topic.name} at the left "
        said += f"lie under {counted(len(row.partners), 'topic')} at the right."
        return TreesPage(
            said, "", known, other.key, ask.level, ask.show, both.a.title, both.b.title, rows=(row,),
            back=page.address(),
        )  # fmt: skip
    rows = page.rows()
    at = paging(len(rows), ask.page, lambda number: page.address(page=number), ROWS)
    alone = [node for node in both.b.order if side.came.get(node) == ALONE]
    return TreesPage(
        _sentence(both, side), _detail(both, ask.level), known, other.key, ask.level, ask.show, both.a.title,
        both.b.title, page.levels(), page.shows(), tuple(map(page.row, rows[at.start : at.last])),
        tuple(page.right(node) for node in alone[:ROWS]), at,
        picture(both, side, ask.level, page.address, ask.show == "changed"),
        page.moves(),
    )  # fmt: skip


def _sentence(both: Both, side: SideBySide) -> str:
    """What became of the topics, and how many documents moved."""
    found, total = Counter(side.became.values()), len(side.became)
    moved, shared = both.found.moved, both.found.n_shared
    if found[SAME] == total == len(side.came) and not moved:
        return f"All {counted(total, 'topic')} have the same documents, or nearly, in both trees."
    joined = counted(len(side.joined), "topic")
    all_same = f"all {counted(total, 'topic')} are" if total > 1 else "the one topic is"
    said = [f"{found[SAME]:,} of {counted(total, 'topic')} {_are(found[SAME])} nearly the same"]
    said = [f"None of {counted(total, 'topic')} is nearly the same"] if not found[SAME] else said
    said = [f"{all_same} nearly the same".capitalize()] if found[SAME] == total else said
    said += [f"{found[SPLIT]:,} {_were(found[SPLIT])} split"] * bool(found[SPLIT])
    said += [f"{found[JOINED]:,} {_were(found[JOINED])} joined into {joined}"] * bool(found[JOINED])
    said += [f"{found[CHANGED]:,} changed"] * bool(found[CHANGED])
    said += [f"{found[ALONE]:,} {_have(found[ALONE])} no counterpart"] * bool(found[ALONE])
    new = sum(kind == ALONE for kind in side.came.values())
    said += [f"{new:,} {_are(new)} new"] * bool(new)
    went = "No document moved."
    if moved:
        went = f"{moved:,} of {shared:,} documents ({moved / shared:.1%}) moved: their last topics do not correspond."
    return f"{', '.join(said)}. {went}"


def _detail(both: Both, level: int | None) -> str:
    """How far both agree, and over what that is counted: the numbers of ``topiarist compare``."""
    found = both.found
    deep = level is not None and level <= len(found.levels)
    figures = found.levels[level - 1] if deep and level is not None else found.leaves
    only = [f"{counted(number, 'document')} only at the {where}"
            for number, where in ((found.n_only_a, "left"), (found.n_only_b, "right")) if number]  # fmt: skip
    counts = "; ".join([f"{counted(found.n_shared, 'document')} in both", *only])
    return (
        f"Agreement {'at this level' if deep else 'of the last topics'}: {figures.nmi:.3f} of 1 (normalised mutual "
        f"information), adjusted Rand index {figures.rand:.3f}. {counts}. Each counts once, where most of it is."
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"
