"""Conversion of values to HTML, with all text of documents and users escaped."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from gettext import NullTranslations
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from topiarist.display.formats import fine_percent
from topiarist.display.locale.catalogues import ENGLISH, message, translate
from topiarist.display.locale.locales import LOCALES
from topiarist.trees.naming.name_test import split_items
from topiarist.web import addresses
from topiarist.web.pictures import drawings, tree_picture
from topiarist.web.pictures.streams import draw_streams, draw_topic_curve
from topiarist.web.values import plain


@cache
def environment(language: str = ENGLISH) -> Environment:
    """Return the templates of a language with their filters and functions."""
    locale = LOCALES[language]
    value = Environment(
        loader=PackageLoader("topiarist.web"),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    value.install_gettext_callables(  # type: ignore[attr-defined]
        partial(message, language), NullTranslations().ngettext, newstyle=True
    )
    value.filters.update(
        to=_format_link,
        under=_add_root,
        kept=_keep_detail,
        number=locale.number,
        percent=locale.fine_percent,
        date=locale.date,
        plain=plain,
        dotted=hyphenate_dots,
        written=_spell_words,
        as_json=addresses.as_json,
        share=_format_share,
        legend_part=_describe_level,
        point=_get_coordinates,
        index_of=_find_index,
        hue=tree_picture.choose_hue,
        telling=_select_telling_words,
        thickness=tree_picture.compute_thickness,
    )
    value.globals.update(
        at=addresses,
        language=language,
        draw_bar=drawings.draw_bar,
        draw_interval=drawings.draw_interval,
        draw_stacked_bar=drawings.draw_stacked_bar,
        draw_curve=drawings.draw_curve,
        draw_icicle=_bind_links(drawings.draw_icicle),
        draw_nearby_topics=_bind_links(drawings.draw_nearby_topics),
        draw_tree=_bind_links(tree_picture.draw_tree),
        count_columns=tree_picture.count_columns,
        compute_document_height=tree_picture.compute_document_height,
        draw_streams=_bind_links(draw_streams),
        draw_map_circles=_bind_links(drawings.draw_map_circles),
        draw_topic_curve=draw_topic_curve,
    )
    return value


def mark_own_link(text: str) -> Markup:
    return Markup(text)  # noqa: S704


def render(template: str, language: str = ENGLISH, **values: Any) -> str:
    return environment(language).get_template(template).render(**values)


@pass_context
def _format_link(context: Context, address: str) -> str:
    """Return the address of a link with the current detail; in a report, an anchor in the file."""
    link = context.get("link")
    return link(address) if callable(link) else _add_root(context, _keep_detail(context, address))


def _bind_links(draw: Callable[[Any, Callable[[str], str]], Markup]) -> Any:
    """Return a function of templates that draws a value with links to other pages."""
    return pass_context(lambda context, value: draw(value, partial(_format_link, context)))


@pass_context
def _keep_detail(context: Context, address: str) -> str:
    return addresses.in_detail(address, context.get("detail", ""))


@pass_context
def _add_root(context: Context, address: str) -> str:
    """Return the address with the token path of the server."""
    return f"{context.get('root', '')}{address}"


@pass_context
def _spell_words(context: Context, words: Any) -> Any:
    """Return words in their usual spelling, as a text or a list like the input."""
    spelling = context.get("spelling", {})
    if isinstance(words, str):
        return " ".join(spelling.get(part, part) for part in words.split(" "))
    return [_spell_words(context, word) for word in words]


@lru_cache(maxsize=4096)
def hyphenate_dots(text: str) -> Markup:
    """Return a name whose lines break after a dot and never before it."""
    *parts, last = text.split(" · ")
    result = Markup("")
    for part in parts:
        head, space, word = part.rpartition(" ")
        result += Markup('{}{}<span class="dotted">{} ·</span> ').format(head, space, word)
    return result + escape(last)


@pass_context
def _select_telling_words(context: Context, topic: Any, room: int) -> Markup:
    """Return words of a topic that its name lacks, as many as fit into a line.

    The style sheet draws the dots between them.
    """
    text, result, length = {item.casefold() for item in split_items(topic.name)}, list[Markup](), 0
    for word in topic.words:
        shown = plain(_spell_words(context, word))
        longer = length + len(shown) + (3 if result else 0)
        if longer > room:
            break
        if word.casefold() not in text:
            result.append(Markup("<span>{}</span>").format(shown))
            length = longer
    return Markup('<span class="run"><span>{}</span></span>').format(Markup(" ").join(result)) if result else Markup("")


def _get_coordinates(point: Any) -> tuple[float, float]:
    return point.leaves, point.perplexity


def _find_index(values: list[Any], value: Any) -> int:
    return values.index(value) if value in values else -1


@pass_context
def _describe_level(context: Context, level: Any) -> tuple[str, float, str, str]:
    """Return class, share, title and address of a level for the legend bar."""
    text = f"{level.name}: {fine_percent(level.share)}"
    if not level.densest:
        return level.kind, level.share, text, ""
    return (
        level.kind,
        level.share,
        translate("{level}, mostly in part {part}", level=text, part=str(level.part)),
        _format_link(context, level.densest),
    )


def _format_share(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value >= 0.0005 else "<.001"
