"""Elements of SVG drawings: every value is escaped, every shape can be a link with a title."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import Markup, escape

To = Callable[[str], str]  # turns an address into the link of a page


def element(name: str, *content: str | Markup, **attributes: Any) -> Markup:
    """Return an element; ``kind`` is its class, underscores in names are hyphens, None leaves out an attribute."""
    pairs = "".join(
        f' {"class" if key == "kind" else key.replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(map(escape, content))
    return Markup(f"<{name}{pairs}>{inner}</{name}>" if content else f"<{name}{pairs}/>")  # noqa: S704


def link(address: str, *content: Markup) -> Markup:
    """Return shapes as a link that the keyboard skips, because a list of the page has the same one."""
    return element("a", *content, href=address, tabindex=-1)


def titled(name: str, title: str, **attributes: Any) -> Markup:
    """Return a shape with a title."""
    return element(name, element("title", title), **attributes)


def drawing(kind: str, label: str, shapes: Iterable[Markup], **attributes: Any) -> Markup:
    """Return a drawing with links, whose content a list of the page repeats for screen readers."""
    inner = element("g", *shapes, Markup(""), aria_hidden="true")
    return element("svg", inner, kind=kind, role="group", aria_label=label, **attributes)


def stretched(view_box: str, *shapes: Markup) -> Markup:
    """Return shapes that are stretched to the size of their drawing."""
    return element("svg", *shapes, width="100%", height="100%", viewBox=view_box, preserveAspectRatio="none")


def percent(share: float, digits: int = 1) -> str:
    """Return a share of the width as a length."""
    return f"{100 * min(max(share, 0.0), 1.0):.{digits}f}%"


def short(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[: max_length - 1].rstrip(' ·')}…"
