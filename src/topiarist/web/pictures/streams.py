"""Pictures of topics over time as SVG: streams, and a curve with a band for each topic.

Paths are stretched to the width of the page; letters are not, for they stand beside them. Colours are those of the
branches, which the style sheet has for both themes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from markupsafe import Markup

from topiarist.display.locale.catalogues import translate
from topiarist.web.pictures.svg import To, drawing, element, link, percent, short, stretched, titled
from topiarist.web.pictures.tree_picture import choose_hue
from topiarist.web.values import plain

if TYPE_CHECKING:
    from topiarist.web.pages.time import TimePage, TopicSeries

WIDE, HIGH = 1000.0, 300.0  # of the streams, before they are stretched
THICK = 0.048  # of the height: a stream has its name written into it where it is at least so thick
LETTERS, LETTER = 24, 8.5  # of a name at most; width of one, where the page is narrow enough to show the tree beside it
SAMPLES = 8  # heights of an edge between two periods
SMALL_WIDE, SMALL_HIGH = 100.0, 40.0
ROOM = 1.5  # times the largest share: how high a small curve is, so that its name has a place above it

Point = tuple[float, float]


def draw_streams(page: TimePage, to: To = str) -> Markup:
    """Draw topics as streams around a middle line; thickness shows the number of documents."""
    numbers = [period.documents for period in page.periods]
    if len(numbers) < 2:
        return Markup("")
    wide = [
        [(share or 0.0) * number for share, number in zip(item.shares, numbers, strict=True)] for item in page.courses
    ]
    total = [sum(column) for column in zip(*wide, strict=True)]
    scale = HIGH / max(*total, 1e-9)
    edge = [(HIGH - scale * total_width) / 2 for total_width in total]
    step = WIDE / (len(numbers) - 1)
    shapes, names = list[Markup](), list[Markup]()
    for course, widths in zip(page.courses, wide, strict=True):
        upper = [(place * step, y) for place, y in enumerate(edge)]
        edge = [y + scale * width for y, width in zip(edge, widths, strict=True)]
        lower = [(place * step, y) for place, y in enumerate(edge)]
        kind = f"{choose_hue(course.branch)} n{len(shapes) % 3}"
        stream = titled("path", plain(course.sentence), kind=kind, d=_format_area(upper, lower))
        shapes.append(link(to(course.address), stream))
        names.append(_draw_name(course, upper, lower))
    label = translate(
        "Topics from {first} to {last}, as wide as their documents. The curves and the table have the same numbers.",
        first=page.periods[0].name, last=page.periods[-1].name,
    )  # fmt: skip
    return drawing("streams", label, [stretched(f"0 0 {WIDE:g} {HIGH:g}", *shapes), *names])


def _draw_name(course: TopicSeries, upper: Sequence[Point], lower: Sequence[Point]) -> Markup:
    """Draw the name of a stream at its thickest stretch; nothing if it is too thin."""
    name = short(plain(course.topic.name), LETTERS)
    above, below = _sample_heights(upper), _sample_heights(lower)
    wide = max(1, round(len(name) * LETTER / WIDE * len(above)))
    rooms = [
        (min(below[place : place + wide]) - max(above[place : place + wide]), place)
        for place in range(len(above) - wide + 1)
    ]
    room, best = max(rooms, default=(0.0, 0))
    if room < THICK * HIGH:
        return Markup("")
    x, y = (best + wide / 2) / len(above), (max(above[best : best + wide]) + room / 2) / HIGH
    return element("text", name, x=percent(x), y=percent(y), dy=".35em", text_anchor="middle")


def _sample_heights(points: Sequence[Point]) -> list[float]:
    """Return the heights of an edge at even steps, along the curve that ``_format_curve`` draws."""
    steps = [step / SAMPLES for step in range(SAMPLES)]
    return [
        start + (end - start) * (3 - 2 * step) * step**2 for (_, start), (_, end) in pairwise(points) for step in steps
    ]


def draw_topic_curve(course: TopicSeries, periods: int) -> Markup:
    """Draw the share of a topic with its intervals and bursts."""
    step = SMALL_WIDE / max(periods - 1, 1)
    maximum = max(*(share for share in course.shares if share is not None), 1e-9) * ROOM
    middle = [None if value is None else _compute_height(value, maximum) for value in course.shares]
    upper = [None if value is None else _compute_height(value, maximum) for value in course.highs]
    lower = [None if value is None else _compute_height(value, maximum) for value in course.lows]
    shapes = [
        element(
            "rect", kind="burst", x=f"{max(0.0, (first - 0.5) * step):.2f}", y=0,
            width=f"{(last - first + 1) * step:.2f}", height=f"{SMALL_HIGH:g}",
        )
        for first, last in course.bursts
    ]  # fmt: skip
    runs = [[place for place, _ in run] for is_present, run in groupby(enumerate(middle), lambda point: point[1] is not None)
            if is_present]  # fmt: skip
    bands = " ".join(_format_area(_list_points(upper, run, step), _list_points(lower, run, step)) for run in runs)
    lines = " ".join(_format_line(_list_points(middle, run, step)) for run in runs)
    shapes += [element("path", kind="band", d=bands), element("path", kind="line", d=lines)]
    curve, peak = stretched(f"0 0 {SMALL_WIDE:g} {SMALL_HIGH:g}", *shapes), _draw_peak(course, middle, step)
    return element(
        "svg", curve, *peak, kind=f"course {choose_hue(course.branch)}", role="img", aria_label=course.sentence
    )


def _draw_peak(course: TopicSeries, middle: Sequence[float | None], step: float) -> tuple[Markup, ...]:
    """Draw a dot and a text at the highest share of a curve."""
    best = min((place for place, y in enumerate(middle) if y is not None), key=lambda place: middle[place] or 0.0)
    x, y = best * step / SMALL_WIDE, (middle[best] or 0.0) / SMALL_HIGH
    anchor = "start" if x < 0.2 else "end" if x > 0.8 else "middle"
    return (
        element("circle", cx=percent(x), cy=percent(y), r=2.5),
        element("text", course.peak, x=percent(x), y=percent(y), dy="-.55em", text_anchor=anchor),
    )


def _compute_height(value: float, maximum: float) -> float:
    """Return the vertical position of a share in a small curve."""
    return max(0.0, SMALL_HIGH * (1 - value / maximum))


def _list_points(values: Sequence[float | None], places: Sequence[int], step: float) -> list[Point]:
    return [(place * step, values[place] or 0.0) for place in places]


def _format_line(points: Sequence[Point]) -> str:
    """Return the SVG path through points; a short dash for a single one."""
    if len(points) == 1:  # a period between two without documents
        (x, y) = points[0]
        return f"M{x - 0.4:.2f} {y:.2f}H{x + 0.4:.2f}"
    return f"M{_format_curve(points)}"


def _format_area(upper: Sequence[Point], lower: Sequence[Point]) -> str:
    """Return the SVG path of the area between two edges."""
    return f"M{_format_curve(upper)}L{_format_curve(list(reversed(lower)))}Z"


def _format_curve(points: Sequence[Point]) -> str:
    """Return the SVG coordinates of a smooth curve through points."""
    parts = [f"{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (x0 + x1) / 2
        parts.append(f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")
    return "".join(parts)
