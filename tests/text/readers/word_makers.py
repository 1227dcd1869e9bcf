"""Word files in the styles of five programs, and the faults of files that Word opens nevertheless."""

from __future__ import annotations

from collections.abc import Callable
from xml.sax.saxutils import escape

from tests.text.readers.office_makers import zipped

Parts = dict[str, "str | bytes"]
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
CORE = (
    f'{XML}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dcterms="http://purl.org/dc/terms/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Minutes</dc:title>'
    "<dcterms:created>2020-01-02T03:04:05Z</dcterms:created></cp:coreProperties>"
)


def run(text: str, properties: str = "") -> str:
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*runs: str, style: str = "") -> str:
    return f"<w:p><w:pPr>{style}<w:tabs><w:tab w:val='left' w:pos='720'/></w:tabs></w:pPr>{''.join(runs)}</w:p>"


def relations(*rows: tuple[str, str]) -> str:
    every = "".join(
        f'<Relationship Id="rId{n}" Type="{R}/{kind}" Target="{path}"/>' for n, (kind, path) in enumerate(rows)
    )
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{every}</Relationships>'


def package(document: str, *others: tuple[str, str, str], main: str = "word/document.xml", core: str = CORE) -> Parts:
    """The parts of a file; ``others`` are the kind, name and content of parts beside the text."""
    types = (
        f'{XML}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{TYPE}"/></Types>'
    )
    name = main.rpartition("/")[2]
    made: Parts = {
        "[Content_Types].xml": types,
        "_rels/.rels": relations(("officeDocument", f"/{main}")),
        main: document,
        f"word/_rels/{name}.rels": relations(*((kind, path) for kind, path, _ in others)),
    }
    made |= {f"word/{path}": content for _, path, content in others}
    return made | ({"docProps/core.xml": core} if core else {})


def document(body: str, names: str = "", attributes: str = "", main: str = W) -> str:
    return (
        f'{XML}<w:document xmlns:w="{main}" xmlns:r="{R}" {names} {attributes}><w:body>{body}'
        '<w:sectPr><w:headerReference w:type="default" r:id="rId0"/></w:sectPr></w:body></w:document>'
    )


def _around(tag: str, content: str) -> str:
    return f'{XML}<w:{tag} xmlns:w="{W}" xmlns:r="{R}">{content}</w:{tag}>'


def python_docx(words: list[str]) -> Parts:
    rows = "".join(f"<w:tr><w:tc><w:tcPr/>{paragraph(run(word))}</w:tc></w:tr>" for word in words[2:4])
    return package(
        document(paragraph(run(words[0]), run(words[1]), style='<w:pStyle w:val="Normal"/>')
                  + f"<w:tbl><w:tblPr/>{rows}</w:tbl>"),
        ("header", "header1.xml", _around("hdr", paragraph(run(words[4])))),
    )  # fmt: skip


def libreoffice(words: list[str]) -> Parts:
    names = f'xmlns:mc="{MC}" xmlns:wps="urn:wps" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:wp14="urn:wp14"'
    box = f"<w:txbxContent>{paragraph(run(words[2]))}</w:txbxContent>"
    drawing = (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><wps:txbx>{box}</wps:txbx></mc:Choice><mc:Fallback><w:pict>'
        f"<v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    note = _around("footnotes", f'<w:footnote w:id="2">{paragraph(run(words[3]))}</w:footnote>')
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    return package(
        document(paragraph(run(words[0]), mark, drawing) + paragraph(run(words[1])), names, 'mc:Ignorable="wp14"'),
        ("footer", "footer1.xml", _around("ftr", paragraph(run(words[4])))), ("footnotes", "footnotes.xml", note),
    )  # fmt: skip


def google(words: list[str]) -> Parts:
    field = (
        f'<w:sdt><w:sdtPr><w:tag w:val="goog_rdk_0"/></w:sdtPr><w:sdtContent>{run(words[1])}'
        f'<w:ins w:id="0" w:author="a">{run(words[2])}</w:ins></w:sdtContent></w:sdt>'
    )
    link = f'<w:hyperlink r:id="rId9">{run(words[3])}</w:hyperlink>'
    body = paragraph(run(words[0], '<w:rPr><w:rtl w:val="0"/></w:rPr>'), field) + paragraph(link, run(words[4]))
    return package(document(body, 'xmlns:sl="urn:sl"'), core="")


def pandoc(words: list[str]) -> Parts:
    math = f"<m:oMath><m:r><m:t>{words[2]}</m:t></m:r></m:oMath>"
    item = "<w:pStyle w:val='Compact'/><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1001'/></w:numPr>"
    note = f'<w:footnote w:id="20">{paragraph(run(words[4]))}</w:footnote>'
    names = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    return package(
        document(paragraph(run(words[0])) + paragraph(run(words[1]), math) + paragraph(run(words[3]), style=item), names),
        ("footnotes", "footnotes.xml", _around("footnotes", note)),
    )  # fmt: skip


def word(words: list[str]) -> Parts:
    """Strict Open XML in document2.xml, with tracked changes, a ruby text and a field."""
    moved = (
        f'<w:moveFrom w:id="1">{run("gone")}</w:moveFrom><w:del w:id="2"><w:r><w:delText>gone</w:delText></w:r></w:del>'
    )
    ruby = f"<w:r><w:ruby><w:rt>{run('gone')}</w:rt><w:rubyBase>{run(words[2])}</w:rubyBase></w:ruby></w:r>"
    field = "<w:r><w:instrText>gone</w:instrText></w:r>"
    body = paragraph(run(words[0]), moved, field) + paragraph(ruby, f"<w:smartTag>{run(words[1])}</w:smartTag>")
    notes = _around("endnotes", f'<w:endnote w:id="1">{paragraph(run(words[4]))}</w:endnote>')
    return package(
        document(body + paragraph(run(words[3])), main=STRICT), ("endnotes", "endnotes.xml", notes),
        main="word/document2.xml",
    )  # fmt: skip


PRODUCERS: tuple[Callable[[list[str]], Parts], ...] = (python_docx, libreoffice, google, pandoc, word)


def _change(parts: Parts, change: Callable[[str], str]) -> Parts:
    return {name: change(content) if name.startswith("word/") and isinstance(content, str) and "_rels" not in name
            else content for name, content in parts.items()}  # fmt: skip


def undeclare_prefix(parts: Parts) -> Parts:
    return _change(parts, lambda content: content.replace(f'xmlns:r="{R}"', ""))


def undeclare_main_prefix(parts: Parts) -> Parts:
    return _change(parts, lambda content: content.replace(f'xmlns:w="{W}"', ""))


def rename_prefix(parts: Parts) -> Parts:
    """Prefixes as ElementTree writes them; mc:Ignorable still names the old ones."""
    return _change(parts, lambda content: content.replace("w:", "ns0:").replace("r:id", "ns1:id"))


def encode_utf16(parts: Parts) -> Parts:
    coded = _change(parts, lambda content: content.replace('encoding="UTF-8"', 'encoding="UTF-16"'))
    return {name: content.encode("utf-16") if isinstance(content, str) and 'encoding="UTF-16"' in content else content
            for name, content in coded.items()}  # fmt: skip


def use_backslashes(parts: Parts) -> Parts:
    return {name.replace("/", "\\"): content for name, content in parts.items()}


def drop_relations(parts: Parts) -> Parts:
    return {name: content for name, content in parts.items() if name != "_rels/.rels"}


def keep(parts: Parts) -> Parts:
    return parts


ODDITIES = (
    keep, undeclare_prefix, undeclare_main_prefix, rename_prefix, encode_utf16, use_backslashes, drop_relations, keep,
)  # fmt: skip


def word_file(number: int, words: list[str]) -> bytes:
    """File ``number``: each program with each oddity."""
    make, change = PRODUCERS[number % len(PRODUCERS)], ODDITIES[number // len(PRODUCERS) % len(ODDITIES)]
    return zipped(change(make(words)))
