"""Elements of an XML file (.xml) as rows, by lxml; the whole file is never in memory.

With a path such as ``channel/item``, each element at that path is a row: its content is its *text*, and its attributes
and child elements are cells. Without a path the file is one document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.text.parsers.limits import ExtractError, Limits, Options, Part, Source, open_unpacked
from topiarist.text.parsers.office import get_local_name
from topiarist.text.parsers.rows.batches import batch_rows, create_fault, create_remark

if TYPE_CHECKING:
    from lxml.etree import _Element

_BLOCKS = frozenset(
    ("p", "para", "div", "li", "item", "head", "title", "h1", "h2", "h3", "h4", "h5", "h6", "section", "sec", "list",
     "table", "row", "tr", "td", "th", "cell", "entry", "br", "lb", "l", "lg", "quote")
)  # fmt: skip
_MIN_REPEATS = 10  # children of one name in the root that can be documents


def read_xml_elements(source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield the elements at the path, or the whole text."""
    path = str(options.get("path_to_text", ""))
    remarks: list[Part] = []
    rows = _read_elements(source, str(options.get("packing", "")), path, remarks)
    yield from batch_rows(rows, limits.characters + 1)
    yield from remarks


def _read_elements(
    source: Source, packing: str, path: str, remarks: list[Part]
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the number and the cells of each element at a path; append faults to ``remarks``."""
    from lxml import etree

    path_names = [name for name in path.split("/") if name]
    is_absolute = path.startswith("/")
    names: list[str] = []
    child_counts: Counter[str] = Counter()
    depth = place = 0
    stream = open_unpacked(source, packing)
    try:
        events = etree.iterparse(
            stream, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, remove_pis=True,
            remove_comments=True,
        )  # fmt: skip
        for event, element in events:
            if event == "start":
                names.append(get_local_name(element))
                if len(names) == 1:
                    _refuse_entities(element)
                if len(names) == 2:
                    child_counts[names[-1]] += 1
                depth += _matches_path(names, path_names, is_absolute)
                continue
            is_row = _matches_path(names, path_names, is_absolute)
            names.pop()
            depth -= is_row
            if is_row and not depth:
                place += 1
                yield (place if path_names else 0), _read_row(element)
            if not depth:
                _free_element(element)
    except etree.XMLSyntaxError as error:
        if not place:
            raise ExtractError(f"not XML: {str(error).splitlines()[0][:100]}") from error
        remarks.append(
            create_fault(f"not XML from here on ({str(error)[:100]}); earlier elements are kept", place=place + 1)
        )
    except EOFError:
        remarks.append(create_fault("the compressed data end early; earlier elements are kept", place=place + 1))
    if path_names and not place and not remarks:
        names_text = ", ".join(name for name, _ in child_counts.most_common(5)) or "nothing"
        raise ExtractError(f"no element at the path {path}; in the outermost are: {names_text}")
    if not path_names and child_counts:
        name, times = child_counts.most_common(1)[0]
        if times >= _MIN_REPEATS:
            remarks.append(create_remark(f'is one document; xml-path = "{name}" would make {times:,} of it'))


def _matches_path(names: list[str], path_names: list[str], is_absolute: bool) -> bool:
    """Return whether the names from the root to an element match a path."""
    if not path_names:
        return len(names) == 1
    return names == path_names if is_absolute else names[-len(path_names) :] == path_names


def _read_row(element: _Element) -> dict[str, object]:
    """Return the text of an element, and its attributes and children as cells."""
    cells: dict[str, object] = {}
    for name, value in element.attrib.items():
        cells.setdefault(str(name).rpartition("}")[2], str(value))
    for child in element:
        if name := get_local_name(child):
            text, previous = _read_text(child), cells.get(name)
            cells[name] = text if previous in (None, "") else f"{previous}\n{text}"
    cells.setdefault("text", _read_text(element))
    if element.getparent() is None and "title" not in cells:
        heading = next((child for child in element.iter() if get_local_name(child).lower() == "title"), None)
        cells["title"] = "" if heading is None else " ".join(_read_text(heading).split())
    return cells


def _read_text(element: _Element) -> str:
    """Return the text of an element; child elements get lines of their own unless text surrounds them."""
    if not len(element):
        return " ".join((element.text or "").split())
    is_inline = bool((element.text or "").strip()) or any((child.tail or "").strip() for child in element)
    if not is_inline:
        return "\n".join(filter(None, (_read_text(child) for child in element if get_local_name(child))))
    pieces = [element.text or ""]
    for child in element:
        text = _read_text(child) if get_local_name(child) else ""
        pieces += [f"\n{text}\n" if get_local_name(child).lower() in _BLOCKS else text, child.tail or ""]
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(filter(None, lines))


def _free_element(element: _Element) -> None:
    """Clear an element and delete its earlier siblings, which frees their memory."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _refuse_entities(root: _Element) -> None:
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise ExtractError("declares XML entities, which are not read")
