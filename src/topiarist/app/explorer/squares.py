"""Labels against topics as a table of squares, as SVG."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages.compare import ComparePage, LabelRow

SIZE, TOP, RIGHT = 22, 122, 86  # of a square; room for the names of columns, which lean over
LONGEST, SIGN = 26, 7  # letters of the name of a row, and the width of one
LEAST = 0.005  # of a label, to be drawn
LABEL = (
    "Labels (rows) against topics (columns, in the order of the tree): the stronger the colour of a square, the more "
    "of the label is in the topic. The table has the numbers."
)


def squares(page: ComparePage, plain: Callable[[str], str], to: Callable[[str], str] = str) -> Markup:
    """The stronger a square, the more of the label; each leads to its documents. Rows follow the topics."""
    rows = sorted(page.rows, key=lambda row: (row.shares.index(max(row.shares)), -row.documents, row.label))
    names = [plain(topic.name) for topic in page.topics]
    left = SIGN * min(max(len(plain(row.label)) for row in rows), LONGEST) + 12
    drawn = [_row(row, (left, TOP + number * SIZE), page, names, plain, to) for number, row in enumerate(rows)]
    turned = Markup(
        '<a href="{}" tabindex="-1"><text transform="translate({} {}) rotate(-50)"><title>{}</title>{}</text></a>'
    )
    for x, (topic, name) in enumerate(zip(page.topics, names, strict=True)):
        at = left + x * SIZE + SIZE // 2
        drawn.append(turned.format(to(topic.address), at, TOP - 6, f"{name}: {topic.documents:,}", _short(name, 20)))
    width, height = left + len(names) * SIZE + RIGHT, TOP + len(rows) * SIZE
    return Markup(
        '<svg class="squares" role="group" aria-label="{}" width="{}rem" height="{}rem" viewBox="0 0 {} {}">'
        '<g aria-hidden="true">{}</g></svg>'
    ).format(LABEL, width / 16, height / 16, width, height, Markup("").join(drawn))


def shades() -> Markup:
    """What a colour means, from nothing to all of a label."""
    steps = [0.0, 0.25, 0.5, 0.75, 1.0]
    band = Markup('<rect class="band" width="{}" height="{}" y="18"/>').format(len(steps) * 2 * SIZE, SIZE - 2)
    drawn = [
        Markup('<rect x="{}" y="18" width="{}" height="{}" fill-opacity="{}"/><text x="{}" y="12">{}</text>').format(
            at * 2 * SIZE, 2 * SIZE - 2, SIZE - 2, _opacity(share), at * 2 * SIZE, f"{share:.0%}"
        )
        for at, share in enumerate(steps)
    ]
    width, height = len(steps) * 2 * SIZE, SIZE + 18
    return Markup(
        '<svg class="squares shades" role="img" aria-label="The shades of the squares: from 0% to 100% of the label" '
        'width="{}rem" height="{}rem" viewBox="0 0 {} {}">{}</svg>'
    ).format(width / 16, height / 16, width, height, band + Markup("").join(drawn))


def _opacity(share: float) -> str:
    return f"{0.12 + 0.88 * share:.2f}" if share >= LEAST else "0"


def _row(
    row: LabelRow,
    place: tuple[int, int],
    page: ComparePage,
    names: list[str],
    plain: Callable[[str], str],
    to: Callable[[str], str],
) -> Markup:
    """A label with its squares on a band, so that the eye stays in the row."""
    label, (left, y) = plain(row.label), place
    drawn = Markup(
        '<a href="{}" tabindex="-1"><text x="{}" y="{}" text-anchor="end"><title>{}</title>{}</text></a>'
        '<rect class="band" x="{}" y="{}" width="{}" height="{}"/>'
    ).format(
        to(row.address), left - 8, y + 15, f"{label}: {row.documents:,} documents", _short(label, LONGEST), left, y,
        len(names) * SIZE - 2, SIZE - 2,
    )  # fmt: skip
    square = Markup(
        '<a href="{}" tabindex="-1"><rect x="{}" y="{}" width="{}" height="{}" fill-opacity="{}"><title>{}</title>'
        "</rect></a>"
    )
    for x, share in enumerate(row.shares):
        if share >= LEAST:
            title = f"{label}, {names[x]}: {row.counts[x]:,} documents, {share:.0%} of the label"
            drawn += square.format(
                to(addresses.labelled(row.label, page.topics[x].id)), left + x * SIZE, y, SIZE - 2, SIZE - 2,
                _opacity(share), title,
            )  # fmt: skip
    return drawn


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip(' ·')}…"
