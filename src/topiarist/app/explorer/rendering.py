"""Values to HTML. Everything that comes from documents or from people is escaped, without exception."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from topiarist.app.explorer import addresses, drawings, tree_picture
from topiarist.app.explorer.ribbons import ribbons
from topiarist.app.explorer.streams import curve_of, streams
from topiarist.app.languages.catalogues import ENGLISH, message, worded
from topiarist.app.languages.locales import LOCALES
from topiarist.app.languages.template_text import translated
from topiarist.app.words import fine_percent

INVISIBLE = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C])


class _Translated(PackageLoader):
    """The templates in a language: translated when they are read, so that pages are made as fast as in English."""

    def __init__(self, language: str) -> None:
        super().__init__("topiarist.app.explorer")
        self.language = language

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool] | None]:
        """The source of a template, with its messages as the catalogue has them."""
        source, name, fresh = super().get_source(environment, template)
        return translated(source, partial(message, self.language)), name, fresh


@cache
def environment(language: str = ENGLISH) -> Environment:
    """The templates in a language, with the few functions that they need."""
    locale = LOCALES[language]
    made = Environment(
        loader=_Translated(language),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        to=_to,
        under=_under,
        kept=_kept,
        number=locale.number,
        percent=locale.fine_percent,
        date=locale.date,
        plain=plain,
        dotted=dotted,
        written=_written,
        as_json=addresses.as_json,
        share=_share,
        legend_part=_legend_part,
        point=_point,
        index_of=_index_of,
        hue=tree_picture.hue,
        telling=_telling,
        thickness=tree_picture.thickness,
    )
    made.globals.update(
        at=addresses,
        language=language,
        bar=drawings.bar,
        interval=drawings.interval,
        stacked=drawings.stacked,
        curve=drawings.line,
        squares=_squares,
        icicle=_icicle,
        whereabouts=_whereabouts,
        dendrogram=_dendrogram,
        ribbons=_ribbons,
        boughs=_boughs,
        columns=tree_picture.columns,
        trunk_of=tree_picture.trunk,
        streams=_streams,
        map_circles=_map_circles,
        curve_of=curve_of,
        shades=drawings.shades,
    )
    return made


def own(text: str) -> Markup:
    """The text of one of our own files, to stand in a page as it is. Nothing else may ever come here."""
    return Markup(text)  # noqa: S704


def render(template: str, language: str = ENGLISH, **values: Any) -> str:
    """A page as HTML."""
    return environment(language).get_template(template).render(**values)


@pass_context
def _to(context: Context, address: str) -> str:
    """Where a link leads, with as much of the tree open as here; in a report, a place in the file."""
    link = context.get("link")
    return link(address) if callable(link) else _under(context, _kept(context, address))


@pass_context
def _kept(context: Context, address: str) -> str:
    """An address of ours with as much of the tree open as here."""
    return addresses.in_detail(address, context.get("detail", ""))


@pass_context
def _under(context: Context, address: str) -> str:
    """An address below the place where this server is: what a form is sent to."""
    return f"{context.get('root', '')}{address}"


@pass_context
def _icicle(context: Context, blocks: Any) -> Any:
    return drawings.icicle(blocks, lambda address: _to(context, address))


@pass_context
def _boughs(context: Context, row: Any) -> Any:
    return tree_picture.drawn(row, lambda address: _to(context, address))


@pass_context
def _written(context: Context, words: Any) -> Any:
    """A word as it is written most often; several as several."""
    spelling = context.get("spelling", {})
    if isinstance(words, str):
        return " ".join(spelling.get(part, part) for part in words.split(" "))
    return [_written(context, word) for word in words]


@lru_cache(maxsize=4096)
def dotted(text: str) -> Markup:
    """A name of several words that may break behind a dot and never before one; copied, it is what it was."""
    *parts, last = text.split(" · ")
    found = Markup("")
    for part in parts:
        before, space, word = part.rpartition(" ")
        found += Markup('{}{}<span class="dotted">{} ·</span> ').format(before, space, word)
    return found + escape(last)


@pass_context
def _telling(context: Context, topic: Any, room: int) -> Markup:
    """Words of a topic that its name does not say, as many as there is room for in a line, and none of them cut.

    The dots between them are drawn by the style sheet, which leaves them away where a line begins and where it ends.
    """
    said, found, length = set(topic.name.casefold().split(" · ")), list[Markup](), 0
    for word in topic.words:
        shown = plain(_written(context, word))
        longer = length + len(shown) + (3 if found else 0)
        if longer > room:
            break
        if word.casefold() not in said:
            found.append(Markup("<span>{}</span>").format(shown))
            length = longer
    return Markup('<span class="run"><span>{}</span></span>').format(Markup(" ").join(found)) if found else Markup("")


@pass_context
def _whereabouts(context: Context, blocks: Any) -> Any:
    return drawings.whereabouts(blocks, lambda address: _to(context, address))


@pass_context
def _dendrogram(context: Context, page: Any) -> Any:
    return drawings.dendrogram(page, lambda address: _to(context, address))


@pass_context
def _squares(context: Context, page: Any) -> Any:
    return drawings.squares(page, plain, lambda address: _to(context, address))


@pass_context
def _ribbons(context: Context, picture: Any, left: str, right: str) -> Any:
    return ribbons(picture, (left, right), lambda address: _to(context, address), plain)


@pass_context
def _streams(context: Context, page: Any) -> Any:
    return streams(page, lambda address: _to(context, address), plain)


@pass_context
def _map_circles(context: Context, page: Any) -> Any:
    return drawings.map_circles(page.circles, lambda address: _to(context, address), plain)


def _point(point: Any) -> tuple[float, float]:
    return point.leaves, point.perplexity


def _index_of(values: list[Any], wanted: Any) -> int:
    return values.index(wanted) if wanted in values else -1


@pass_context
def _legend_part(context: Context, level: Any) -> tuple[str, float, str, str]:
    said = f"{level.name}: {fine_percent(level.share)}"
    if not level.densest:
        return level.kind, level.share, said, ""
    return (
        level.kind,
        level.share,
        worded("{level}, most of it in part {part}", level=said, part=str(level.part)),
        _to(context, level.densest),
    )


def _share(value: float) -> str:
    """A probability of a word, short."""
    return f"{value:.3f}".lstrip("0") if value >= 0.0005 else "<.001"


def plain(text: str) -> str:
    """A title or a name in one line, without signs that turn the direction of what stands around it."""
    if type(text) is str and text.isprintable():  # as nearly all are
        return text.strip()
    return "".join(sign if sign.isprintable() else " " for sign in text.translate(INVISIBLE)).strip()
