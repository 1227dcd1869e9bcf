"""Small real files of every kind, written by hand."""

from __future__ import annotations

from pathlib import Path

from tests.text.readers.office_makers import zipped
from tests.text.readers.word_makers import XML, R, W, package
from topiarist.text.documents import Document
from topiarist.text.readers import Reading


def paragraph(text: str) -> str:
    return f'<w:p><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def table(*cells: str) -> str:
    return f"<w:tbl><w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in cells)}</w:tr></w:tbl>"


def link(text: str) -> str:
    return f'<w:p><w:hyperlink r:id="rId9"><w:r><w:t>{text}</w:t></w:r></w:hyperlink></w:p>'


def docx(path: Path, body: str, *, prolog: str = "", padding: int = 0) -> Path:
    text = f'{XML}{prolog}<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{body}</w:body></w:document>'
    padding_parts = {"word/media/image1.bin": bytes(padding)} if padding else {}
    path.write_bytes(zipped(package(text) | padding_parts))
    return path


def pdf(path: Path, *pages: str, title: str = "Report") -> Path:
    """A PDF with one page per text; an empty text is a page without any, as a scan is."""
    first_page = 5
    kids = " ".join(f"{first_page + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Title({title})/CreationDate(D:20200102030405Z)>>",
    ]
    for index, text in enumerate(pages):
        lines = " ".join(f"({line}) Tj T*" for line in text.splitlines())
        content = f"BT /F1 12 Tf 72 720 Td 14 TL {lines} ET"
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {first_page + 2 * index + 1} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table_at = len(data)
    entries = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{entries}".encode()
    data += f"trailer<</Size {len(objects) + 1}/Root 1 0 R/Info 4 0 R>>\nstartxref\n{table_at}\n%%EOF".encode()
    path.write_bytes(data)
    return path


def only(reading: Reading) -> Document:
    """The one document of a reading."""
    (document,) = reading
    return document


def reasons(reading: Reading) -> list[str]:
    """The problems of a reading, by file name."""
    return [f"{Path(problem.source).name}: {problem.reason}" for problem in reading.problems]
