"""Input made to be slow takes time in proportion to its size. Most of these took from ten seconds to hours."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from pylatexenc.latex2text import LatexNodes2Text

from tests.text.readers.makers import only, reasons
from tests.text.readers.office_makers import xlsx
from tests.work import assert_linear, promptly
from topiarist.errors import UsageError
from topiarist.text.parsers import latex_walker
from topiarist.text.parsers.latex_walker import convert_latex
from topiarist.text.parsers.rows import stray_cells
from topiarist.text.readers import Columns, Limits, read
from topiarist.text.readers.columns import choose_columns
from topiarist.text.seen_keys import SeenKeys

NOT_CLOSED = "malformed: a quotation mark is opened here and not closed"


@pytest.mark.parametrize("long", [b"From " + b"a" * 1_000_000, b"From " + b"a " * 500_000, b">" * 1_000_000])
def test_mailbox_with_long_line(tmp_path: Path, long: bytes) -> None:
    path = tmp_path / "a.mbox"
    path.write_bytes(b"From a@b Mon Jan  1 10:00:00 2024\nSubject: x\n\nwords\n\n" + long + b"\n")
    with promptly():
        assert only(read(path)).text.startswith("words")


def test_mailbox_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_text(
        "From a@b Mon Jan  1 10:00:00 2024\nSubject: x\n\none\n\nFrom here on\n\nFrom  10:00\n\n"
        "From c Tue Jan  2 11:00\nSubject: y\n\ntwo\n"
    )
    assert [document.title for document in read(path)] == ["x", "y"]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
@pytest.mark.parametrize("line", ['a"b,"c\n', 'a"b\t"c\n', '"a\n', '2,"a""\n', '2,x,"a\n,"\n'])
def test_csv_of_open_quotation_marks_linear(tmp_path: Path, name: str, line: str) -> None:
    path = tmp_path / name
    comma = "\t" if name == "t.tsv" else ","
    path.write_text(f"id{comma}text\n1{comma}fine\n" + line * 50_000 + f"9{comma}last\n")
    reading = read(path)
    with promptly():
        found = {document.id: document.text for document in reading}
    assert (found["1"], found.get("9", "last")) == ("fine", "last")


def test_csv_recovers_from_malformed_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,text\n0,fine\n" + 'a"b,"c\n' * 30_000 + '8,end\n9,"two\nlines"\n')
    reading = read(path)
    with promptly():
        assert [(d.id, d.text) for d in reading][-2:] == [("8", "end"), ("9", "two\nlines")]
    assert reasons(reading)[0] == f"t.csv:3: {NOT_CLOSED}"
    assert reading.counts.failed == 30_000


def test_open_quotation_mark_costs_one_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    plain = "".join(f'{number},"row\nof lines",a\n' for number in range(2000))
    path.write_text("id,text,label\n" + f'x,"open,a\n{plain}' * 3)
    reading = read(path)
    assert sum(document.text == "row\nof lines" for document in reading) == 6000
    assert reading.counts.failed == 3


def test_endless_record_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,text\n1,fine\n2,"open\n' + "3,plain\n" * 5000 + '4,"closed"\n')
    reading = read(path, limits=Limits(characters=10))
    with promptly():
        assert sum(1 for _ in reading) == 5002
    assert reasons(reading)[0] == f"t.csv:3: {NOT_CLOSED}"


def test_endless_header_rejected(tmp_path: Path) -> None:
    good, bad = tmp_path / "a.csv", tmp_path / "b.csv"
    good.write_text("text\nwords\n")
    bad.write_text('id,"text\n' + "3,plain\n" * 50_000)
    reading = read([good, bad], limits=Limits(characters=10))
    assert [document.text for document in reading] == ["words"]
    (reason,) = reasons(reading)
    assert reason.startswith("b.csv: malformed in its first line: ")


def test_wide_table_with_short_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("text" + ",a" * 5000 + "\n" + "w\n" * 100_000)
    with promptly():
        assert sum(1 for _ in read(path, Columns(label="a 5001"))) == 100_000


def test_header_of_many_names(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(200_000)]
    path = tmp_path / "t.csv"
    path.write_text(",".join(names) + "\n" + "some words " * 10 + "\n")
    with promptly():
        assert only(read(path)).text == "some words " * 10
    with promptly(), pytest.raises(UsageError, match="no column c_7 in t"):
        choose_columns(Columns(text="c_7"), names, {}, "t")
    with promptly(), pytest.raises(UsageError, match="no column text in t"):
        choose_columns(Columns(text="text"), ["te" * 10_000_000, "txt"], {}, "t")


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# " + " #" * 990 + "x", " ".join("#" * 990) + "x"),
        ("# a" + " " * 1990 + "b", "a"),
        ("# a" + " #" * 900 + " " * 100 + "\x0b", "a" + " #" * 899),
        ("#\n" * 1000, "a.md"),
        ("# a #\n", "a"),
        ("#\tb", "b"),
        ("#\n\nno title", "no title"),
    ],
)
def test_markdown_headings(tmp_path: Path, heading: str, title: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(heading)
    with promptly():
        assert only(read(path)).title == title[:1000].strip()


def test_nested_labels_skip_one_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("text,label\nwords," + "[" * 100_000 + "\nmore,b\n")
    assert [document.labels for document in read(path, Columns(label="label"))] == [("[" * 100_000,), ("b",)]


def test_unique_ids_use_one_transaction() -> None:
    # A commit goes through the cache: with a million ids in it, that is most of the time of a reading.
    ids = SeenKeys()
    assert [ids.claim_id("a"), ids.claim_id("a#2"), ids.claim_id("a")] == ["a", "a#2", "a#3"]
    assert ids._database.in_transaction
    ids.close()


def test_long_latex_linear() -> None:
    plain = "Plain words, and more of them.\n\n\\begin{proof} The first; the \\emph{second}. \\end{proof}\n"
    sizes = [(number, (plain * number + "words of a line\n" * 40 * number,)) for number in (40, 400)]
    assert_linear(convert_latex, *sizes)
    with promptly(10):
        assert convert_latex("words of a thesis\n" * 100_000).count("thesis") == 100_000


LATEX = (
    "word", "a b, c. ", "\n", "\n\n", " ", "--", "---", "''", "``", "-", "~", "&", "\\emph{x y}", "\\emph x y", "\\frac12 a",
    "\\begin{proof}", "\\end{proof}", "\\item[ab c] ", "$x_i^2$", "$", "\\[ x y \\]", "% comment\n", "{", "}", "[", "]",
    "\\alpha ", "\\'e", "\\section{A b}", "!`", "\\verb|a b|", "\\begin{verbatim}\na  b\n\\end{verbatim}", "é", "_", "日本",
)  # fmt: skip


@given(st.lists(st.sampled_from(LATEX), max_size=14).map("".join), st.sampled_from([2, 20, 10_000]))
@settings(max_examples=100, deadline=None)
def test_latex_text_equals_that_of_package(latex: str, max_node: int) -> None:
    def convert(function, *options):
        try:
            return function(latex, *options)
        except Exception as error:
            return type(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latex_walker, "_MAX_NODE", max_node)
        plain = LatexNodes2Text(math_mode="text", keep_comments=False).latex_to_text
        assert convert(convert_latex) == convert(lambda text: plain(text, tolerant_parsing=True))


def test_parquet_rows_without_text_bounded(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    columns = {"n": [1] * 100_300, "text": [""] * 100_299 + ["the last text"]}
    parquet.write_table(pyarrow.table({name: values[-250:] for name, values in columns.items()}), path)
    assert only(read(path)).text == "the last text"
    parquet.write_table(pyarrow.table(columns), path)
    good = tmp_path / "a.txt"
    good.write_text("words")
    reading = read(tmp_path)
    assert only(reading).text == "words"
    assert "more than 100,000 rows have no text; the rest of the file is not read" in "".join(reasons(reading))


STRAY = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>stray</t></is></c><c r="XFC1048576" s="1"/></row>'


def test_stray_cell_costs_no_workbook(tmp_path: Path) -> None:
    rows = [["id", "text"], *([str(number), f"text {number}"] for number in range(300))]
    (tmp_path / "t.xlsx").write_bytes(xlsx({"One": rows, "Two": rows[:200]}, extra=STRAY))
    reading = read(tmp_path / "t.xlsx")
    assert [document.text for document in reading][::299] == ["text 0", "text 299"]
    said = "2 cells far from the others skipped, first XFD1048576"
    assert reasons(reading) == [f"One: {said}", f"Two: {said}"]


def test_cells_without_ends_linear() -> None:
    data = b'<c r="A1">' * 100_000 + b'<c r="XFD1048576"><v>1</v></c>'
    with promptly():
        assert stray_cells._CELL.findall(data) == [(b"c", b"XFD", b"1048576")]


def test_sheet_of_far_cells_not_cut() -> None:
    columns, rows = [(1, 5), (16_384, 5)], [(1, 5), (1_048_576, 5)]
    assert stray_cells._find_limits(columns[:], rows[:], 5) == (1, 1_048_576)
    assert stray_cells._find_limits(columns, rows, 4) is None


@pytest.mark.parametrize("number", [-99_999, 1_114_112, 9_999_999_999])
def test_impossible_characters_of_rich_text_replaced(tmp_path: Path, number: int) -> None:
    (tmp_path / "t.rtf").write_text(rf"{{\rtf1 a\u{number}?b \u-10179?\u-8704? \u8364?}}")
    assert only(read(tmp_path / "t.rtf")).text == "a\ufffdb 😀 €"
