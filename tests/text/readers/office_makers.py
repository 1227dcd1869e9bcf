"""Small real files of office programs, mail and archives, written by hand: nothing that reads them writes them."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape

SECTOR, MINI, CUTOFF = 512, 64, 4096
FREE, END, FAT_MARK = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def zipped(parts: Mapping[str, str | bytes], *, stored: bool = False) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return made.getvalue()


def locked(archive: bytes) -> bytes:
    """The same zip file, each member of which says that it is encrypted."""
    data = bytearray(archive)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(mark, at + 4)
    return bytes(data)


def _column(number: int) -> str:
    letters = ""
    while number >= 0:
        letters = chr(65 + number % 26) + letters
        number = number // 26 - 1
    return letters


def _cell(row: int, column: int, value: object) -> str:
    at = f"{_column(column)}{row}"
    if value is None or value == "":
        return ""
    if isinstance(value, int | float):
        return f'<c r="{at}"><v>{value}</v></c>'
    return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


def xlsx(sheets: Mapping[str, list[list[object]]], *, extra: str = "", padding: int = 0) -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": (
            f'<?xml version="1.0"?><Types xmlns="{package}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="{kinds}.worksheet+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/></Types>'
        ),
        "_rels/.rels": (
            f'<?xml version="1.0"?><Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": (
            f'<?xml version="1.0"?><workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            + "".join(f'<sheet name="{escape(n)}" sheetId="{i}" r:id="s{i}"/>' for i, n in enumerate(sheets, 1))
            + "</sheets></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<?xml version="1.0"?><Relationships xmlns="{package}/relationships">'
            + "".join(
                f'<Relationship Id="s{i}" Type="{office}/worksheet" Target="worksheets/sheet{i}.xml"/>'
                for i in range(1, len(sheets) + 1)
            )
            + "</Relationships>"
        ),
    }
    for i, rows in enumerate(sheets.values(), 1):
        body = "".join(
            f'<row r="{r}">{"".join(_cell(r, c, value) for c, value in enumerate(row))}</row>'
            for r, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/sheet{i}.xml"] = (
            f'<?xml version="1.0"?><worksheet xmlns="{main}"><sheetData>{body}{extra}</sheetData></worksheet>'
        )
    if padding:
        parts["xl/media/image1.bin"] = bytes(padding)
    return zipped(parts)


def _open_document(kind: str, body: str, *, manifest: str = "") -> bytes:
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for short, long in (("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"))
    )
    manifest_names = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f'<?xml version="1.0"?><office:document-content {names}><office:body>{body}</office:body>'
            "</office:document-content>",
            "meta.xml": '<?xml version="1.0"?><office:document-meta '
            'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
            'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>Open title</dc:title>'
            "<meta:creation-date>2021-02-03T04:05:06</meta:creation-date></office:meta></office:document-meta>",
            "META-INF/manifest.xml": f'<?xml version="1.0"?><manifest:manifest {manifest_names}>{manifest}'
            f'<manifest:file-entry manifest:full-path="/" '
            f'manifest:media-type="application/vnd.oasis.opendocument.{kind}"/></manifest:manifest>',
        }
    )


def odt(*paragraphs: str, manifest: str = "") -> bytes:
    body = "".join(f"<text:p>{text}</text:p>" for text in paragraphs)
    return _open_document("text", f"<office:text>{body}</office:text>", manifest=manifest)


def odp(*slides: str) -> bytes:
    pages = "".join(
        f"<draw:page><draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame></draw:page>"
        for text in slides
    )
    return _open_document("presentation", f"<office:presentation>{pages}</office:presentation>")


def ods(name: str, rows: list[list[str]]) -> bytes:
    body = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{escape(cell)}</text:p></table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    table = f'<table:table table:name="{name}">{body}</table:table>'
    return _open_document("spreadsheet", f"<office:spreadsheet>{table}</office:spreadsheet>")


def pptx(*slides: tuple[str, str, str], order: tuple[int, ...] = ()) -> bytes:
    """Slides of a title, a text and a note; ``order`` is that in which they are shown."""
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    shown = "http://schemas.openxmlformats.org/presentationml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    names = f'xmlns:a="{drawing}" xmlns:p="{shown}" xmlns:r="{office}"'
    order = order or tuple(range(1, len(slides) + 1))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>"
        + "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in order)
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{package}">'
        + "".join(f'<Relationship Id="r{n}" Type="{office}/slide" Target="slides/slide{n}.xml"/>' for n in order)
        + "</Relationships>",
    }
    for n, (title, text, note) in enumerate(slides, 1):
        parts[f"ppt/slides/slide{n}.xml"] = (
            f"<p:sld {names}><p:cSld><p:spTree>"
            '<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr>'
            f"<p:txBody><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>"
            f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
            "</p:spTree></p:cSld></p:sld>"
        )
        parts[f"ppt/slides/_rels/slide{n}.xml.rels"] = (
            f'<Relationships xmlns="{package}">'
            f'<Relationship Id="n" Type="{office}/notesSlide" Target="../notesSlides/notesSlide{n}.xml"/>'
            "</Relationships>"
        )
        parts[f"ppt/notesSlides/notesSlide{n}.xml"] = (
            f"<p:notes {names}><a:p><a:r><a:t>{note}</a:t></a:r></a:p></p:notes>"
        )
    return zipped(parts)


def epub(title: str, *chapters: str, locked_chapter: int = 0, missing: int = 0) -> bytes:
    items = "".join(f'<item id="c{n}" href="text/c{n}.xhtml"/>' for n in range(1, len(chapters) + 1))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(1, len(chapters) + 1))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{title}</dc:title><dc:date>1922-02-02</dc:date></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for n, text in enumerate(chapters, 1):
        if n != missing:
            parts[f"OEBPS/text/c{n}.xhtml"] = f"<html><head><title>c</title></head><body><p>{text}</p></body></html>"
    if locked_chapter:
        parts["META-INF/encryption.xml"] = (
            '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:CipherReference '
            f'URI="OEBPS/text/c{locked_chapter}.xhtml"/></encryption>'
        )
    return zipped(parts)


def compound(streams: Mapping[tuple[str, ...], bytes]) -> bytes:
    """A compound file (OLE): what old office files and Outlook messages are wrapped in."""
    folders: list[tuple[str, ...]] = []
    for path in streams:
        for depth in range(1, len(path)):
            if path[:depth] not in folders:
                folders.append(path[:depth])
    paths = [(), *folders, *streams]
    number = {path: n for n, path in enumerate(paths)}
    sectors: list[bytes] = []
    fat: list[int] = []

    def chain(data: bytes) -> int:
        if not data:
            return END
        first = len(fat)
        count = -(-len(data) // SECTOR)
        for n in range(count):
            sectors.append(data[n * SECTOR : (n + 1) * SECTOR].ljust(SECTOR, b"\0"))
            fat.append(first + n + 1 if n + 1 < count else END)
        return first

    mini, mini_fat, places = b"", [], {}
    for path, data in streams.items():
        if len(data) >= CUTOFF:
            places[path] = chain(data)
            continue
        first, count = len(mini_fat), -(-len(data) // MINI)
        places[path] = first if count else END
        mini += data.ljust(count * MINI, b"\0")
        mini_fat += [first + n + 1 if n + 1 < count else END for n in range(count)]
    mini_start = chain(mini)
    mini_fat_bytes = struct.pack(f"<{len(mini_fat)}I", *mini_fat).ljust(
        -(-len(mini_fat) * 4 // SECTOR) * SECTOR, b"\xff"
    )
    mini_fat_start = chain(mini_fat_bytes)
    entries = b""
    for path in paths:
        children = [one for one in paths if len(one) == len(path) + 1 and one[: len(path)] == path]
        siblings = [one for one in paths if path and len(one) == len(path) and one[:-1] == path[:-1]]
        after = siblings.index(path) + 1 if path else 0
        name = (path[-1] if path else "Root Entry").encode("utf-16-le") + b"\0\0"
        kind = 5 if not path else 2 if path in streams else 1
        start = mini_start if not path else places.get(path, 0)
        size = len(mini) if not path else len(streams.get(path, b""))
        entries += name.ljust(64, b"\0") + struct.pack(
            "<HBBIII16sIQQIQ", len(name), kind, 1, FREE,
            number[siblings[after]] if path and after < len(siblings) else FREE,
            number[children[0]] if children else FREE, bytes(16), 0, 0, 0, start, size,
        )  # fmt: skip
    empty = bytes(64) + struct.pack("<HBBIII16sIQQIQ", 0, 0, 0, FREE, FREE, FREE, bytes(16), 0, 0, 0, 0, 0)
    while len(entries) % SECTOR:
        entries += empty
    directory = chain(entries)
    fat_sectors = 1
    while fat_sectors * SECTOR // 4 < len(fat) + fat_sectors:
        fat_sectors += 1
    at = len(fat)
    fat += [FAT_MARK] * fat_sectors
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(fat_sectors * SECTOR, b"\xff")
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack(
        "<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, fat_sectors, directory, 0, CUTOFF,
        mini_fat_start, len(mini_fat_bytes) // SECTOR, END, 0,
    )  # fmt: skip
    numbers = [at + n for n in range(fat_sectors)] + [FREE] * (109 - fat_sectors)
    return header + struct.pack("<109I", *numbers) + b"".join(sectors) + table


def xls(rows: list[list[str]], name: str = "Old") -> bytes:
    """An old spreadsheet (BIFF8) of texts."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    start = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 0))
    bound = 4 + 8 + len(name)
    book = start + record(0x0085, struct.pack("<IBBBB", len(start) + bound + 4, 0, 0, len(name), 0) + name.encode())
    book += record(0x000A, b"")
    sheet = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 0))
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            data = text.encode("utf-16-le")
            sheet += record(0x0204, struct.pack("<HHHHB", r, c, 0, len(text), 1) + data)
    sheet += record(0x000A, b"")
    return compound({("Workbook",): (book + sheet).ljust(CUTOFF, b"\0")})


def msg(subject: str, body: str, *, html: str = "", attached: Mapping[str, bytes] | None = None) -> bytes:
    """A message of Outlook, sent on 2 January 2020."""
    streams: dict[tuple[str, ...], bytes] = {}

    def put(folder: tuple[str, ...], values: Mapping[int, bytes | int], header: int) -> None:
        entries = b""
        for tag, value in values.items():
            fixed = isinstance(value, int)
            number = value if isinstance(value, int) else len(value) + (2 if tag & 0xFFFF == 0x1F else 0)
            entries += struct.pack("<IIQ", tag, 6, number)
            if not fixed:
                streams[(*folder, f"__substg1.0_{tag:08X}")] = value  # type: ignore[assignment]
        streams[(*folder, "__properties_version1.0")] = bytes(header) + entries

    facts: dict[int, bytes | int] = {
        0x001A001F: "IPM.Note".encode("utf-16-le"),
        0x0037001F: subject.encode("utf-16-le"),
        0x00390040: (1577934245 + 11644473600) * 10_000_000,
    }
    if body:
        facts[0x1000001F] = body.encode("utf-16-le")
    if html:
        facts[0x10130102] = html.encode()
    put((), facts, 32)
    for n, (name, data) in enumerate((attached or {}).items()):
        values: dict[int, bytes | int] = {0x37050003: 1, 0x3707001F: name.encode("utf-16-le"), 0x37010102: data}
        put((f"__attach_version1.0_#{n:08X}",), values, 8)
    return compound(streams)
