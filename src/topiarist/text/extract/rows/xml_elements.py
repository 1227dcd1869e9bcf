"""Elements of an XML file (.xml) as rows, by lxml: the whole file is never in memory.

With a path such as ``channel/item``, each element at that path is a row: what stands in it is its *text*, and its
attributes and the elements in it are cells of their own. Without a path the file is one document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.text.extract.limits import ExtractError, Limits, Part, Source, Told
from topiarist.text.extract.office.packages import local
from topiarist.text.extract.packing import unpacked
from topiarist.text.extract.rows.batches import batches, fault, remark

if TYPE_CHECKING:
    from lxml.etree import _Element

_BLOCKS = frozenset(
    ("p", "para", "div", "li", "item", "head", "title", "h1", "h2", "h3", "h4", "h5", "h6", "section", "sec", "list",
     "table", "row", "tr", "td", "th", "cell", "entry", "br", "lb", "l", "lg", "quote")
)  # fmt: skip
_OFTEN = 10  # elements of one name in the first one: perhaps each is a document


def parts(source: Source, limits: Limits, told: Told) -> Iterator[Part]:
    """The elements at the path, or the whole text."""
    path = str(told.get("path_to_text", ""))
    said: list[Part] = []
    rows = _found(source, str(told.get("packing", "")), path, said)
    yield from batches(rows, limits.characters + 1)
    yield from said


def _found(source: Source, packing: str, path: str, said: list[Part]) -> Iterator[tuple[int, dict[str, object]]]:
    from lxml import etree

    wanted = [name for name in path.split("/") if name]
    anchored = path.startswith("/")
    names: list[str] = []
    often: Counter[str] = Counter()
    inside = place = 0
    stream = unpacked(source, packing)
    try:
        events = etree.iterparse(
            stream, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, remove_pis=True,
            remove_comments=True,
        )  # fmt: skip
        for event, element in events:
            if event == "start":
                names.append(local(element))
                if len(names) == 1:
                    _refuse_entities(element)
                if len(names) == 2:
                    often[names[-1]] += 1
                inside += _is_at(names, wanted, anchored)
                continue
            here = _is_at(names, wanted, anchored)
            names.pop()
            inside -= here
            if here and not inside:
                place += 1
                yield (place if wanted else 0), _row(element)
            if not inside:
                _forget(element)
    except etree.XMLSyntaxError as error:
        if not place:
            raise ExtractError(f"not XML: {str(error).splitlines()[0][:100]}") from error
        said.append(fault(f"not XML from here on ({str(error)[:100]}); what came before is kept", place=place + 1))
    except EOFError:
        said.append(fault("the compressed data end early; what came before is kept", place=place + 1))
    if wanted and not place and not said:
        shown = ", ".join(name for name, _ in often.most_common(5)) or "nothing"
        raise ExtractError(f"no element at the path {path}; in the outermost are: {shown}")
    if not wanted and often:
        name, times = often.most_common(1)[0]
        if times >= _OFTEN:
            said.append(remark(f"is one document; --xml-path {name} would make {times:,} of it"))


def _is_at(names: list[str], wanted: list[str], anchored: bool) -> bool:
    """Whether the element whose names from the outermost are these is one that is wanted."""
    if not wanted:
        return len(names) == 1
    return names == wanted if anchored else names[-len(wanted) :] == wanted


def _row(element: _Element) -> dict[str, object]:
    """What stands in an element, and its attributes and elements as cells."""
    cells: dict[str, object] = {}
    for name, value in element.attrib.items():
        cells.setdefault(str(name).rpartition("}")[2], str(value))
    for one in element:
        if name := local(one):
            text, before = _text(one), cells.get(name)
            cells[name] = text if before in (None, "") else f"{before}\n{text}"
    cells.setdefault("text", _text(element))
    if element.getparent() is None and "title" not in cells:
        heading = next((one for one in element.iter() if local(one).lower() == "title"), None)
        cells["title"] = "" if heading is None else " ".join(_text(heading).split())
    return cells


def _text(element: _Element) -> str:
    """All text in an element. Elements in it have lines of their own, unless they stand within a line of text."""
    if not len(element):
        return " ".join((element.text or "").split())
    within = bool((element.text or "").strip()) or any((one.tail or "").strip() for one in element)
    if not within:
        return "\n".join(filter(None, (_text(one) for one in element if local(one))))
    pieces = [element.text or ""]
    for one in element:
        text = _text(one) if local(one) else ""
        pieces += [f"\n{text}\n" if local(one).lower() in _BLOCKS else text, one.tail or ""]
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(filter(None, lines))


def _forget(element: _Element) -> None:
    """Give an element back that is done with, and those before it."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _refuse_entities(root: _Element) -> None:
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise ExtractError("declares XML entities, which are not read")
