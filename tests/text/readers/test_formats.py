"""Every kind of file, once as it should be and in the shapes it really comes in."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from pathlib import Path

import pytest

from tests.text.readers.makers import docx, link, only, paragraph, pdf, reasons, table
from tests.text.readers.office_makers import epub, odt, pptx, xlsx
from topiarist.errors import InputError, ResourceError
from topiarist.text.documents import Document
from topiarist.text.parsers import pool, worker
from topiarist.text.readers import contents, read


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_plain_text(tmp_path: Path) -> None:
    path = write(tmp_path / "note.txt", "one\r\ntwo\n")
    assert only(read(path)) == Document("note.txt", "one\ntwo\n", title="one", source=str(path))


def test_markdown_title_first_heading(tmp_path: Path) -> None:
    document = only(read(write(tmp_path / "a.md", "intro\n\n# The *tree* #\n\n## second\n")))
    assert document.title == "The *tree*"
    assert document.text.startswith("intro")


def test_html_visible_text(tmp_path: Path) -> None:
    page = (
        "<html><head><title>On\n oil &amp; gas</title><style>p {}</style></head><body><script>evil()</script>"
        "<p>un<b>believ</b>able&nbsp;price</p><div>one<br>two</div><ul><li>a<li>b</ul>"
        "<table><tr><td>c<td>d</table><!-- hidden --><noscript>turn it on</noscript></body></html>"
    )
    document = only(read(write(tmp_path / "page.HTM", page)))
    assert document.title == "On oil & gas"
    assert document.text == "unbelievable price\none\ntwo\na\nb\nc\nd"


def test_html_uses_declared_encoding(tmp_path: Path) -> None:
    page = '<meta charset="koi8-r"><p>Привет</p>'.encode("koi8-r")
    assert only(read(write(tmp_path / "page.html", page))).text == "Привет"


def test_pdf_pages_title_date_and_hyphens(tmp_path: Path) -> None:
    path = pdf(tmp_path / "report.pdf", "Hello hyphen-\nated world", "Second page")
    assert only(read(path)) == Document(
        "report.pdf", "Hello hyphenated world\n\fSecond page", "Report", source=str(path), date="2020-01-02",
        has_file_date=True,
    )  # fmt: skip


def test_pdf_without_text_suggests_ocr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "has_ocr", lambda: False)
    pdf(tmp_path / "scan.pdf", "")
    pdf(tmp_path / "text.pdf", "words")
    reading = read(tmp_path)
    assert [document.text for document in reading] == ["words"]
    assert (reading.counts.read, reading.counts.empty, reading.counts.failed) == (1, 1, 0)
    assert reasons(reading) == [
        "scan.pdf: no text in this PDF (scanned pages?); pip install 'topiarist[ocr]' to have them read"
    ]
    with pytest.raises(ResourceError, match="reading scanned pages requires rapidocr"):
        read(tmp_path, ocr=True)


def test_docx_keeps_tables_and_links_in_order(tmp_path: Path) -> None:
    body = paragraph("before &amp; after") + table("cell one", "cell two") + link("the link") + paragraph("a ---- b")
    document = only(read(docx(tmp_path / "minutes.docx", body)))
    assert document.text.split("\n\n") == ["before & after", "cell one", "cell two", "the link", "a ---- b"]
    assert (document.title, document.date) == ("Minutes", "2020-01-02T03:04:05+00:00")


MULTIPART = """\
Subject: =?utf-8?q?Caf=C3=A9?= closed
Date: Thu, 02 Jan 2020 03:04:05 +0100
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/html; charset=utf-8

<p>the html</p>
--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

the pl=E4in text
--inner--
--outer
Content-Type: text/plain
Content-Disposition: attachment; filename=a.txt

the attachment
--outer--
"""


def test_mail_text_and_attachments(tmp_path: Path) -> None:
    document, attached = read(write(tmp_path / "a.eml", MULTIPART))
    assert document.text.strip() == "the pläin text"
    assert (document.title, document.date) == ("Café closed", "2020-01-02T03:04:05+01:00")
    assert (attached.id, attached.text, dict(attached.columns)["parent"]) == ("a.eml#a.txt", "the attachment", "a.eml")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"Subject: x\nContent-Type: text/html\n\n<p>only<br>html</p>", "only\nhtml"),
        (
            b"Subject: x\nContent-Type: text/plain; charset=no-such\n\ncaf\xe9 ferm\xe9 le soir",
            "café fermé le soir",
        ),
        (b"Subject: x\n\nundeclared caf\xc3\xa9", "undeclared café"),
        (b"Subject: x\nDate: yesterday\nContent-Type: ;;;\n\nodd headers", "odd headers"),
    ],
)
def test_malformed_mail(tmp_path: Path, raw: bytes, text: str) -> None:
    assert only(read(write(tmp_path / "a.eml", raw))).text.strip() == text


MAILBOX = b"""From a@example.org Thu Jan  2 03:04:05 2020
Subject: first

Hello
>From here on, quoted

From the look of it this is no separator

From b@example.org Thu Jan  2 03:04:06 2020
Subject: second

World

From c@example.org Thu Jan  2 03:04:07 2020
Subject: third

"""


def test_mailbox_message_by_message(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "all.mbox", MAILBOX))
    first, second = reading
    assert (first.id, first.title) == ("all.mbox:1", "first")
    assert first.text == "Hello\nFrom here on, quoted\n\nFrom the look of it this is no separator\n\n"
    assert (second.id, second.title, second.text) == ("all.mbox:2", "second", "World\n\n")
    assert reading.counts.empty == 1
    assert reasons(reading) == ["all.mbox:3: no text"]


def test_mailbox_keeps_order_with_many_messages(tmp_path: Path) -> None:
    separator = "From a@example.org Thu Jan  2 03:04:05 2020\nSubject: s\n\n"
    path = write(tmp_path / "all.mbox", "".join(f"{separator}message {n}\n\n" for n in range(50)))
    assert [d.text.strip() for d in read(path)] == [f"message {n}" for n in range(50)]


def test_invalid_mailbox_becomes_problem(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "text")
    write(tmp_path / "no.mbox", "Dear all,\n")
    reading = read(tmp_path)
    assert len(list(reading)) == 1
    assert reasons(reading) == ["no.mbox: not a mailbox: it does not begin with a “From ” line"]


def test_invalid_mail_becomes_problem(tmp_path: Path) -> None:
    write(tmp_path / "a.eml", "Subject: ok\n\nfine")
    write(tmp_path / "b.eml", bytes(range(256)))
    reading = read(tmp_path)
    assert [document.text for document in reading] == ["fine"]
    assert reasons(reading) == ["b.eml: not an e-mail: it has no header lines"]


@pytest.mark.parametrize(("suffix", "packed"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.txt", b"packed", "packed"),
        ("a.csv", b"text\npacked\n", "packed"),
        ("a.tsv", b"text\tn\npacked\t1\n", "packed"),
        ("a.jsonl", b'{"text": "packed"}\n', "packed"),
        ("a.html", b"<p>packed</p>", "packed"),
        ("a.eml", b"Subject: x\n\npacked", "packed"),
    ],
)
def test_compressed_text_files(tmp_path: Path, suffix: str, packed, name: str, content: bytes, text: str) -> None:
    assert only(read(write(tmp_path / f"{name}.{suffix}", packed(content)))).text == text


def test_compressed_pdf_and_docx(tmp_path: Path) -> None:
    write(tmp_path / "a.pdf.gz", gzip.compress(pdf(tmp_path / "plain.pdf", "in a pdf").read_bytes()))
    write(tmp_path / "b.docx.gz", gzip.compress(docx(tmp_path / "c.docx", paragraph("in word")).read_bytes()))
    assert only(read(tmp_path / "a.pdf.gz")).text == "in a pdf"
    assert only(read(tmp_path / "b.docx.gz")).text == "in word"


def test_other_types_counted_with_advice(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "text")
    for name in ("mail.pst", "old.doc", "sheet.numbers", "disk.rar", "README", "table.parquet.gz"):
        write(tmp_path / name, "x")
    reading = read(tmp_path)
    assert len(list(reading)) == 1
    assert (reading.counts.unknown, reading.counts.failed, reading.counts.files) == (6, 0, 7)
    assert reasons(reading) == [
        "README: not a known type (no suffix)",
        "disk.rar: not a known type (.rar); unpack it",
        "mail.pst: not a known type (.pst); save it as .eml, .msg or .mbox (readpst makes a mailbox of it)",
        "old.doc: not a known type (.doc); save it as .docx or PDF",
        "sheet.numbers: not a known type (.numbers); save it as CSV",
        "table.parquet.gz: not a known type (.gz); unpack it",
    ]


def test_counts_summary(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "text")
    write(tmp_path / "b.txt", " \n")
    write(tmp_path / "c.doc", "x")
    write(tmp_path / "d.pdf", "x")
    reading = read(tmp_path)
    list(reading)
    assert str(reading.counts) == "4 files: 1 read · 1 empty · 1 not a known type · 1 failed"


WITHOUT_OFFICE = f"""
import sys
sys.path[:] = sys.argv[1:]
sys.modules.update(dict.fromkeys({worker.OFFICE}))
from topiarist.text.parsers.worker import main
main()
"""


@pytest.fixture
def without_office(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "worker_command", lambda: [sys.executable, "-P", "-c", WITHOUT_OFFICE, *sys.path])


def test_missing_office_packages_named(tmp_path: Path, without_office: None) -> None:
    write(tmp_path / "note.txt", "text")
    write(tmp_path / "page.html", "<p>a page</p>")
    write(tmp_path / "letter.rtf", r"{\rtf1 a letter}")
    pdf(tmp_path / "a.pdf", "words")
    docx(tmp_path / "b.docx", paragraph("words"))
    write(tmp_path / "c.odt", odt("words"))
    write(tmp_path / "d.pptx", pptx(("a", "b", "c")))
    write(tmp_path / "e.epub", epub("Book", "words"))
    write(tmp_path / "f.xlsx", xlsx({"Sheet": [["text"], ["words"]]}))
    write(tmp_path / "g.xml", "<a>words</a>")
    reading = read(tmp_path)
    assert sorted(document.text for document in reading) == ["a letter", "a page", "text"]
    needs = {"a.pdf": "pypdfium2", "f.xlsx": "python_calamine"}
    needs |= dict.fromkeys(("b.docx", "c.odt", "d.pptx", "e.epub", "g.xml"), "lxml")
    assert sorted(reasons(reading)) == [
        f"{name}: needs {package}, which is not installed: pip install 'topiarist[office]'"
        for name, package in sorted(needs.items())
    ]


def test_unreadable_folder_suggests_packages(tmp_path: Path, without_office: None) -> None:
    pdf(tmp_path / "a.pdf", "words")
    with pytest.raises(InputError, match=r"a\.pdf: needs pypdfium2") as caught:
        list(read(tmp_path))
    assert caught.value.hint == "Run pip install 'topiarist[office]'."
