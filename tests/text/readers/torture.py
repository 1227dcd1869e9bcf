"""The torture folder: every format once as it should be, and more than twenty kinds of damage.

    python -m tests.text.readers.torture FOLDER

writes it. `ROWS` is the table of what must come out of each file: its documents, by what follows the name of the file
in their ids (or by the whole id, after ``=``) and by a piece of their text; and what is said of it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.text.readers import makers
from tests.text.readers.office_makers import compound, epub, locked, msg, odp, ods, odt, pptx, xls, xlsx, zipped
from topiarist.text.readers import Limits

LIMITS = Limits(
    characters=200_000, seconds=10.0, memory_bytes=1 << 30, unpacked_bytes=8 << 20, archive_bytes=100 << 20,
    archive_members=50, archive_depth=3,
)  # fmt: skip

MAIL = (
    b"Subject: =?utf-8?q?Caf=C3=A9?=\nDate: Thu, 02 Jan 2020 03:04:05 +0100\nMIME-Version: 1.0\n"
    b"Content-Type: multipart/mixed; boundary=outer\n\n--outer\nContent-Type: text/plain\n\nletter words\n"
)
RTF = (
    rb"{\rtf1\ansi\ansicpg1251{\info{\title Rich}}{\fonttbl{\f0 Arial;}}"
    rb"\f0 \'cf\'f0\'e8\'e2\'e5\'f2 {\b rich} words\par}"
)
LATEX = (
    "\\documentclass{article}\\title{On \\emph{trees}}\\begin{document}\\section{Roots}We grow \\textbf{latex} words "
    "\\cite{knuth}. % secret\n\\end{document} after"
)
LAUGHS = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"> ]><x>&b;</x>'
SECRET = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY s SYSTEM "file:///etc/passwd"> ]><x>&s;</x>'
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8


def attached(*files: tuple[str, bytes]) -> bytes:
    made = MAIL
    for name, data in files:
        made += (
            f'--outer\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename="{name}"\n'
            f"Content-Transfer-Encoding: base64\n\n"
        ).encode()
        import base64

        made += base64.encodebytes(data)
    return made + b"--outer--\n"


def tarred(members: dict[str, bytes], *, mode: str = "w", odd: bool = False) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if odd:
            for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("device", tarfile.CHRTYPE)):
                info = tarfile.TarInfo(name)
                info.type, info.linkname = kind, "../../etc/passwd"
                archive.addfile(info)
    return made.getvalue()


def with_link() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo("link.txt")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("real.txt", "real words")
    return made.getvalue()


def seven_zip(members: dict[str, bytes], password: str | None = None) -> bytes:
    import py7zr

    made = io.BytesIO()
    with py7zr.SevenZipFile(made, "w", password=password) as archive:
        for name, data in members.items():
            archive.writef(io.BytesIO(data), name)
    return made.getvalue()


def parquet(rows: list[dict[str, object]]) -> bytes:
    import pyarrow
    from pyarrow import parquet as writer

    made = io.BytesIO()
    writer.write_table(pyarrow.Table.from_pylist(rows), made)
    return made.getvalue()


def parquet_bomb() -> bytes:
    """A few kilobytes: two thousand times one long value, which a dictionary holds once."""
    import pyarrow
    from pyarrow import parquet as writer

    text = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * 2_000, pyarrow.int8()), pyarrow.array(["x" * 3_000_000])
    )
    made = io.BytesIO()
    writer.write_table(pyarrow.table({"text": text}), made, compression="zstd")
    return made.getvalue()


def nested(depth: int) -> bytes:
    data = zipped({"deep.txt": "deep words"})
    for number in range(depth):
        data = zipped({"shallow.txt": f"words of level {number}", "in.zip": data})
    return data


def file_of(make: Callable[[Path], Path]) -> bytes:
    """What a maker writes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return make(Path(folder) / "file").read_bytes()


@dataclass(frozen=True)
class Row:
    """A file, and what must come out of it."""

    name: str
    data: Callable[[], bytes]
    documents: tuple[tuple[str, str], ...] = ()
    said: tuple[str, ...] = ()  # pieces of what is said, one for each time
    more: bool = False  # whether more may be said


def text(words: str, encoding: str = "utf-8") -> Callable[[], bytes]:
    return lambda: words.encode(encoding)


TABLE = "id,title,text\n,Mr,table words\n"
PAGES = "<html><head><title>Page</title></head><body><p>web <b>words</b></p><script>no()</script></body></html>"
RECORDS = json.dumps([{"id": "j1", "text": "json words"}, {"text": "second"}])
WHOLE_PDF = file_of(lambda path: makers.pdf(path, "pdf words"))


def word_file(body: str, **options: object) -> bytes:
    return file_of(lambda path: makers.docx(path, body, **options))


WHOLE_DOCX = file_of(lambda path: makers.docx(path, makers.paragraph("word words")))
SHEET: list[list[object]] = [["id", "text", "n"], ["", "sheet words", 3], ["", "more of them", 4.5]]

ROWS = [
    # every format, as it should be
    Row("plain.txt", text("plain words"), (("", "plain words"),)),
    Row("mark.md", text("# Mark\n\nmarked words"), (("", "marked words"),)),
    Row("page.html", text(PAGES), (("", "web words"),)),
    Row("paper.pdf", lambda: WHOLE_PDF, (("", "pdf words"),)),
    Row("letter.docx", lambda: WHOLE_DOCX, (("", "word words"),)),
    Row("letter.odt", lambda: odt("open<text:s/>words", "next"), (("", "open words\nnext"),)),
    Row("slides.odp", lambda: odp("shown words", "later"), (("", "shown words\nlater"),)),
    Row("slides.pptx", lambda: pptx(("A", "first", "said"), ("B", "slide words", "aside"), order=(2, 1)),
        (("", "B\nslide words\naside\n\fA\nfirst\nsaid"),)),
    Row("letter.rtf", lambda: RTF, (("", "Привет rich words"),)),
    Row("novel.epub", lambda: epub("Novel", "one chapter", "another"), (("", "one chapter\n\fanother"),)),
    Row("paper.tex", text(LATEX), (("", "We grow latex words"),)),
    Row("note.eml", lambda: attached(("a.txt", b"attached words"), ("b.pdf", WHOLE_PDF), ("c.png", PNG)),
        (("", "letter words"), ("#a.txt", "attached words"), ("#b.pdf", "pdf words")), ("(.png)",)),
    Row("outlook.msg", lambda: msg("Hello", "outlook words", attached={"a.csv": TABLE.encode()}),
        (("", "outlook words"), ("#a.csv:2", "table words"))),
    Row("html.msg", lambda: msg("Hello", "", html="<p>outlook <b>page</b>"), (("", "outlook page"),)),
    Row("box.mbox", lambda: b"From a@b Thu Jan  2 03:04:05 2020\n" + attached(("a.txt", b"boxed words")),
        ((":1", "letter words"), (":1#a.txt", "boxed words"))),
    Row("table.csv", text(TABLE), ((":2", "table words"),)),
    Row("table.tsv", text(TABLE.replace(",", "\t")), ((":2", "table words"),)),
    Row("lines.jsonl", text('{"text": "line words"}\n"bare"\n'), ((":1", "line words"), (":2", "bare"))),
    Row("list.json", text(RECORDS), (("=j1", "json words"), (":2", "second"))),
    Row("wrapped.json", text(json.dumps({"n": 1, "items": [{"text": "wrapped words"}]})), ((":1", "wrapped words"),),
        ("the objects under “items” are documents",)),
    Row("one.json", text('{"text": "single words"}'), (("", "single words"),)),
    Row("lines.json", text('{"text": "l1", "t": [{"a": 1}]}\n{"text": "l2"}\n'), ((":1", "l1"), (":2", "l2"))),
    Row("feed.xml", text("<feed><title>F</title><p>xml words</p></feed>"), (("", "F\nxml words"),)),
    Row("book.xlsx", lambda: xlsx({"S": SHEET, "Empty": []}), (("/S:2", "sheet words"), ("/S:3", "more of them"))),
    Row("old.xls", lambda: xls([["id", "text"], ["", "old sheet"]]), (("/Old:2", "old sheet"),)),
    Row("open.ods", lambda: ods("T", [["id", "text"], ["", "open sheet"]]), (("/T:2", "open sheet"),)),
    Row("titled.xlsx", lambda: xlsx({"S": [["Survey of 2024"], [], *SHEET]}),
        (("/S:4", "sheet words"), ("/S:5", "more of them")), ("1 row above the names of the columns",)),
    Row("two.xlsx", lambda: xlsx({"Answers": SHEET, "Codes": [["a", "b"], ["x", "y"]]}),
        (("/Answers:2", "sheet words"), ("/Answers:3", "more of them")), ("no column is known to hold the text",)),
    Row("table.parquet", lambda: parquet([{"text": "arrow words", "n": 1}]), ((":1", "arrow words"),)),
    Row("box.zip", lambda: zipped({"a/b.txt": "zipped words", "c.csv": TABLE, ".hidden": "no", "__MACOSX/x.txt": "no"}),
        (("/a/b.txt", "zipped words"), ("/c.csv:2", "table words"))),
    Row("box.tar", lambda: tarred({"./a.txt": b"tar words"}), (("/a.txt", "tar words"),)),
    Row("box.tar.gz", lambda: tarred({"a.txt": b"tar words"}, mode="w:gz"), (("/a.txt", "tar words"),)),
    Row("box.txz", lambda: tarred({"a.txt": b"tar words"}, mode="w:xz"), (("/a.txt", "tar words"),)),
    Row("box.tbz2", lambda: tarred({"a.txt": b"tar words"}, mode="w:bz2"), (("/a.txt", "tar words"),)),
    Row("box.7z", lambda: seven_zip({"a/b.txt": b"seven words", "c.txt": b"eight"}),
        (("/a/b.txt", "seven words"), ("/c.txt", "eight"))),
    Row("packed.json.gz", lambda: gzip.compress(RECORDS.replace("j1", "j2").encode()),
        (("=j2", "json words"), (":2", "second"))),
    Row("packed.txt.xz", lambda: lzma.compress(b"packed words"), (("", "packed words"),)),
    Row("packed.xml.bz2", lambda: bz2.compress(b"<a>packed xml</a>"), (("", "packed xml"),)),
    # 1: cut off
    Row("cut.pdf", lambda: WHOLE_PDF[:60], said=("not a PDF file, or a damaged one",)),
    Row("cut.docx", lambda: WHOLE_DOCX[:-40], said=("not a Word document, or a damaged one",)),
    Row("cut.xlsx", lambda: xlsx({"S": SHEET})[:-40], said=("not a spreadsheet, or a damaged one",)),
    Row("cut.xls", lambda: xls([["text"], ["x"]])[:1000], said=("not a spreadsheet, or a damaged one",)),
    Row("cut.odt", lambda: odt("x")[:-40], said=("not an OpenDocument file, or a damaged one",)),
    Row("cut.pptx", lambda: pptx(("a", "b", "c"))[:-40], said=("not a presentation, or a damaged one",)),
    Row("cut.epub", lambda: epub("a", "b")[:-40], said=("not an electronic book, or a damaged one",)),
    Row("cut.zip", lambda: zipped({"a.txt": "x"})[:-10], said=("not an archive, or a damaged one",)),
    Row("cut.7z", lambda: seven_zip({"a.txt": b"x" * 999})[:-20], said=("not an archive, or a damaged one",)),
    Row("cut.tar.gz", lambda: gzip.compress(tarred({"a.txt": b"kept words", "b.txt": PNG * 99}))[:-900],
        (("/a.txt", "kept words"),), ("damaged from here on; earlier members are kept",)),
    Row("cut.msg", lambda: msg("a", "b")[:700], said=("not an Outlook message, or a damaged one",)),
    Row("cut.json", text('[{"text": "kept"}, {"text": "lost'), ((":1", "kept"),), ("earlier objects are kept",)),
    Row("cut.json.gz", lambda: gzip.compress(b'[{"text": "a"}]' * 3)[:-12], said=("",), more=True),
    Row("cut.xml", text("<a><b>x</b><b>y"), said=("not XML",)),
    Row("cut.rtf", lambda: RTF[:-30], (("", "При"),)),
    Row("cut.tex", text(LATEX[:-40]), (("", "We grow"),)),
    Row("cut.parquet", lambda: parquet([{"text": "x"}])[:-20], said=("damaged Parquet",)),
    Row("cut.eml", lambda: attached(("a.txt", b"x" * 500))[:-200],
        (("", "letter words"), ("#a.txt", "xxx")), ("its last attachment may be cut off",)),
    # 2: under a wrong name
    Row("wrong.docx", lambda: WHOLE_PDF, said=("not a Word document",)),
    Row("wrong.pdf", lambda: WHOLE_DOCX, said=("not a PDF",)),
    Row("wrong.txt", lambda: PNG, said=("not text",)),
    Row("wrong.csv", lambda: xlsx({"S": SHEET}), said=("not text",)),
    Row("wrong.xls", lambda: xlsx({"S": SHEET}), (("/S:2", "sheet words"), ("/S:3", "more of them"))),
    Row("wrong.xlsx", lambda: xls([["id", "text"], ["", "x"]]), (("/Old:2", "x"),)),
    Row("wrong.odt", lambda: WHOLE_DOCX, said=("a zip file, but not an OpenDocument file",)),
    Row("wrong.zip", lambda: tarred({"a.txt": b"tar words"}), (("/a.txt", "tar words"),)),
    Row("wrong.rtf", text("just text"), said=("not a Rich Text file",)),
    Row("wrong.msg", lambda: attached(), said=("not an Outlook message",)),
    Row("wrong.json", text("text, not JSON"), said=("not JSON",)),
    Row("wrong.xml", text("text, not XML"), said=("not XML",)),
    Row("wrong.7z", text("no archive"), said=("not an archive",)),
    # 3: in another encoding
    Row("latin.txt", text("où est la bibliothèque française des élèves", "latin-1"), (("", "bibliothèque française"),)),
    Row("wide.json", text(RECORDS.replace("j1", "j3"), "utf-16"), (("=j3", "json words"), (":2", "second"))),
    Row("marked.json", text("\ufeff" + RECORDS.replace("j1", "j4")), (("=j4", "json words"), (":2", "second"))),
    Row("koi.xml", text('<?xml version="1.0" encoding="koi8-r"?><a>Привет</a>', "koi8-r"), (("", "Привет"),)),
    Row("latin.tex", text("La bibliothèque des élèves est fermée à midi", "latin-1"), (("", "bibliothèque"),)),
    # 4: empty
    *(
        Row(f"empty{suffix}", bytes, said=("",))
        for suffix in (".txt", ".csv", ".json", ".xml", ".xlsx", ".xls", ".ods", ".odt", ".rtf", ".epub", ".pptx",
                       ".tex", ".zip", ".tar", ".7z", ".msg", ".eml", ".pdf", ".parquet")
    ),
    Row("nothing.zip", lambda: zipped({}), said=("no rows, messages or files in it",)),
    Row("nothing.json", text("[]"), said=("no rows",)),
    Row("nothing.xlsx", lambda: xlsx({"S": []}), said=("no rows",)),
    # 5: behind a password
    Row("locked.zip", lambda: locked(zipped({"a.txt": "secret"})), said=("needs a password",)),
    Row("locked.7z", lambda: seven_zip({"a.txt": b"secret"}, "word"), said=("needs a password",)),
    Row("locked.odt", lambda: odt("x", manifest="<manifest:encryption-data/>"), said=("needs a password",)),
    Row("locked.xlsx", lambda: compound({("EncryptedPackage",): b"x" * 5000, ("EncryptionInfo",): b"y"}),
        said=("needs a password",)),
    Row("locked.pptx", lambda: locked(pptx(("a", "b", "c"))), said=("needs a password",)),
    Row("locked.epub", lambda: epub("a", "b", locked_chapter=1), said=("copy protection",)),
    # 6: bombs
    Row("bomb.zip", lambda: zipped({"a.txt": "first words", "b.txt": bytes(110 << 20)}),
        (("/a.txt", "first words"),), ("can be a bomb",)),
    Row("bomb.7z", lambda: seven_zip({"a.txt": bytes(110 << 20)}), said=("can be a bomb",)),
    Row("bomb.tgz", lambda: tarred({"a.txt": bytes(110 << 20)}, mode="w:gz"), said=("can be a bomb",)),
    Row("bomb.xlsx", lambda: xlsx({"S": SHEET}, padding=40 << 20), said=("unpacks to 40 MB",)),
    Row("bomb.docx", lambda: word_file(makers.paragraph("bomb"), padding=9 << 20), said=("unpacks to 9 MB in 6 parts",)),
    Row("entities.docx", lambda: word_file(makers.paragraph("&a;&b;"), prolog=LAUGHS.partition("<x>")[0][21:]),
        said=("declares XML entities, which no Word document does",)),
    Row("secret.docx", lambda: word_file(makers.paragraph("&s;"), prolog=SECRET.partition("<x>")[0][21:]),
        said=("declares XML entities, which no Word document does",)),
    Row("old.docx", lambda: bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512),
        said=("needs a password, or is an old .doc under a new name",)),
    Row("bomb.odt", lambda: odt("x" * (9 << 20)), said=("unpacks to 9 MB",)),
    Row("bomb.parquet", parquet_bomb, tuple((f":{number}", "xxx") for number in range(1, 23)), ("",), more=True),
    Row("bomb.xml", text(LAUGHS), said=("declares XML entities",)),
    Row("secret.xml", text(SECRET), said=("declares XML entities",)),
    Row("many.zip", lambda: zipped({f"{n:02d}.txt": f"words {n}" for n in range(60)}),
        tuple((f"/{n:02d}.txt", f"words {n}") for n in range(50)), ("more files than the limit",)),
    Row("corner.xlsx", lambda: xlsx({"S": SHEET}, extra='<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        (("/S:2", "sheet words"), ("/S:3", "more of them")), ("1 cell far from the others skipped",)),
    # 7: within each other
    Row("nested.zip", lambda: nested(2),
        (("/shallow.txt", "level 1"), ("/in.zip/shallow.txt", "level 0"), ("/in.zip/in.zip/deep.txt", "deep words"))),
    Row("deep.zip", lambda: nested(4),
        (("/shallow.txt", "level 3"), ("/in.zip/shallow.txt", "level 2"), ("/in.zip/in.zip/shallow.txt", "level 1")),
        ("is nested in more than",)),
    Row("mail.zip", lambda: zipped({"m.eml": attached(("a.zip", zipped({"b.txt": "far words"})))}),
        (("/m.eml", "letter words"), ("/m.eml#a.zip/b.txt", "far words"))),
    Row("deep.json", text('{"a":' * 100_000), said=("",)),
    Row("deep.xml", text("<a>" * 100_000), said=("not XML",)),
    Row("deep.rtf", lambda: rb"{\rtf1 " + b"{" * 50_000 + b"deep" + b"}" * 50_001, (("", "deep"),)),
    # 8: names that lead elsewhere, links, devices
    Row("slip.zip", lambda: zipped({"../../evil.txt": "e", "/etc/evil.txt": "e", "C:\\e.txt": "e", "ok.txt": "ok"}),
        (("/ok.txt", "ok"),), ("leads outside the archive",) * 3),
    Row("slip.tar", lambda: tarred({"../evil.txt": b"evil", "ok.txt": b"ok"}, odd=True),
        (("/ok.txt", "ok"),), ("leads outside the archive", "a link", "a link", "not a regular file")),
    Row("links.zip", with_link, (("/real.txt", "real words"),), ("a link",)),
    # 9: NUL bytes
    Row("nul.txt", lambda: b"words\0 and \0 more" + bytes(100), said=("not text",)),
    Row("nul.json", text(json.dumps([{"text": "a\0b"}])), ((":1", "ab"),)),
    Row("nul.html", lambda: b"<p>one\0two</p>", said=("not text",)),
    # 10: enormous
    Row("cell.csv", text("id,text\n1," + "x" * 300_000 + "\n"), (("=1", "xxx"),), ("only the first 200,000",)),
    Row("cell.xlsx", lambda: xlsx({"S": [["text"], ["x" * 300_000]]}), (("/S:2", "xxx"),), ("only the first 200,000",)),
    Row("cell.json", text(json.dumps([{"text": "x" * 300_000}])), ((":1", "xxx"),), ("only the first 200,000",)),
    Row("wide.xlsx", lambda: xlsx({"S": [["text", *(f"c{n}" for n in range(3000))], ["wide words", *[1] * 3000]]}),
        (("/S:2", "wide words"),)),
    # 11: damage within
    Row("crc.zip", lambda: zipped({"a.txt": "good words", "b.txt": "hurt"}, stored=True).replace(b"hurt", b"HURT"),
        (("/a.txt", "good words"),), ("damaged in the archive",)),
    Row("missing.epub", lambda: epub("a", "one", "two", missing=1), (("", "two"),), ("1 of 2 chapters are not there",)),
    Row("mixed.json", text('[{"text": "good"}, 7, null, {"text": "more"}]'), ((":1", "good"), (":4", "more")),
        ("found a number", "found null")),
    Row("unknown.zip", lambda: zipped({"a.exe": "x", "b.png": PNG, "c.txt": "known"}), (("/c.txt", "known"),),
        ("(.exe)", "(.png)")),
    Row("same.zip", lambda: zipped({"a.txt": "one", "A.TXT": "two"}), (("/a.txt", "one"), ("/A.TXT", "two"))),
    Row("attached.eml", lambda: attached(("../../x.txt", b"safe"), ("no.pdf", b"not a pdf")),
        (("", "letter words"), ("#x.txt", "safe")), ("not a PDF",)),
    # languages, copies and what cannot be read at all
    *(
        Row(f"{name}.txt", text(words), (("", words),))
        for name, words in {
            "german": "Der Wald ist im Herbst am schönsten", "french": "La forêt est belle en automne",
            "russian": "Осенью лес прекрасен", "chinese": "秋天的森林最美丽", "arabic": "الغابة جميلة في الخريف",
        }.items()
    ),
    Row("copy one.txt", text("the same words"), (("", "the same words"),)),
    Row("copy two.txt", text("the same words"), (("", "the same words"),)),
    Row("mail.pst", lambda: b"!BDN" + bytes(600), said=("readpst makes a mailbox of it",)),
    Row("old.doc", lambda: compound({("WordDocument",): b"x" * 5000}), said=("save it as .docx or PDF",)),
]  # fmt: skip


def build(folder: Path) -> Path:
    """Write all files, and a Maildir."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in ROWS:
        (folder / row.name).write_bytes(row.data())
    for name in ("cur", "new", "tmp", ".Sent/cur", ".Sent/new", ".Sent/tmp"):
        (folder / "Maildir" / name).mkdir(parents=True)
    for name in ("cur/1.M2.host:2,S", "new/3.M4.host", "tmp/5.half", ".Sent/cur/6.M7.host:2,RS"):
        (folder / "Maildir" / name).write_bytes(attached(("a.txt", b"kept words")))
    return folder


if __name__ == "__main__":
    build(Path(sys.argv[1]))
