"""Rows of CSV, TSV, JSON lines and Parquet to documents."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.text.readers.makers import only, reasons
from tests.text.readers.torture import parquet
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.text.documents import Document
from topiarist.text.parsers import pool
from topiarist.text.readers import Columns, Limits, read
from topiarist.text.readers.columns import TableColumns


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


ALL = Columns(id="key", title="name", text="body", label="topic", date="day")


def test_csv_with_named_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'key,name,body,topic,day\nk1,N,"a, ""b""\nc",oil; gas ;oil,2020-01-02\n')
    assert only(read(path, ALL)) == Document("k1", 'a, "b"\nc', "N", ("oil", "gas"), str(path), "2020-01-02")


def test_csv_ids_line_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'text,n\n"one\ntwo",1\n\nthree,2\n')
    assert [document.id for document in read(path)] == ["t.csv:2", "t.csv:5"]


def test_usual_column_names_used(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "ID,Title,text,Date\n7,T,words,2020\n")
    document = only(read(path))
    assert (document.id, document.title, document.date) == ("7", "T", "2020")
    document = only(read(path, Columns(id="", title="", date="")))
    assert (document.id, document.title, document.date) == ("t.csv:2", "words", "")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_finds_its_delimiter(tmp_path: Path, delimiter: str) -> None:
    path = write(tmp_path / "t.csv", f"id{delimiter}text\n1{delimiter}words here\n")
    assert only(read(path)).text == "words here"


def test_csv_header_over_two_lines_and_odd_names(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", '\n"the\ntext",,a,a\nwords,1,2,3\n')
    assert only(read(path, Columns(text="the\ntext", title="column 2", label="a 4"))).labels == ("3",)


def test_tsv_with_bare_quotation_marks(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", 'id\ttext\n1\t"odd, mark\n2\tsecond\n3\t"both" here\n')
    assert [document.text for document in read(path)] == ['"odd, mark', "second", "both here"]


def test_csv_continues_after_malformed_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.csv",
        'id,text\n1,fine\n2,"never closed\n3,also fine\n4,a,b,c\n5\n6,"closed"\n7,trailing,,\n8,end\n',
    )
    reading = read(path)
    assert [(d.id, d.text) for d in reading] == [
        ("1", "fine"), ("3", "also fine"), ("6", "closed"), ("7", "trailing"), ("8", "end"),
    ]  # fmt: skip
    assert reasons(reading) == [
        "t.csv:3: malformed: a quotation mark is opened here and not closed",
        "t.csv:5: 4 cells where the header has 2; is there a delimiter in unquoted text?",
        "t.csv:6: no text",
    ]
    assert (reading.counts.failed, reading.counts.empty) == (2, 1)


def test_csv_cell_above_default_limit(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", f"id,text\n1,{'word ' * 40_000}\n")
    assert len(only(read(path)).text) == 200_000


def test_json_lines_with_lists_numbers_and_nulls(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        lines(
            {"body": "one", "topic": ["oil", "gas", "oil"], "key": 7},
            {"body": ["two", "lines"], "topic": "court", "name": None, "day": 2020},
            {"body": None},
            {"key": "no body"},
            {"body": {"a": 1}},
            {"body": "x", "name": "n"},
        ),
    )
    reading = read(path, ALL)
    first, second, last = reading
    assert (first.id, first.labels) == ("7", ("oil", "gas"))
    assert (second.id, second.text, second.labels, second.date) == (
        "t.jsonl:2",
        "two\nlines",
        ("court",),
        "2020",
    )
    assert last.title == "n"
    assert (reading.counts.empty, reading.counts.failed) == (2, 1)
    assert reasons(reading)[2] == "t.jsonl:5: expected text in body, key, name, topic, day, found an object"


def test_labels_of_csv_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'text,topic\na,"[""x;1"", ""y""]"\nb,p;q\nc,[odd\n')
    assert [d.labels for d in read(path, Columns(label="topic"))] == [("x;1", "y"), ("p", "q"), ("[odd",)]
    whole = Columns(label="topic", label_separator="")
    assert [d.labels for d in read(path, whole)][1] == ("p;q",)


def test_invalid_json_lines_skipped(tmp_path: Path) -> None:
    text = (
        lines({"text": "one"}) + '{"text": "cut\n\n[1]\nnull\n' + "[" * 100_000 + "\n" + lines("bare", {"text": "two"})
    )
    reading = read(write(tmp_path / "t.ndjson", text))
    assert [(d.id, d.text) for d in reading] == [
        ("t.ndjson:1", "one"), ("t.ndjson:7", "bare"), ("t.ndjson:8", "two"),
    ]  # fmt: skip
    assert reasons(reading) == [
        "t.ndjson:2: not JSON: Invalid control character at: line 1 column 14 (char 13)",
        "t.ndjson:4: expected a JSON object, found a list",
        "t.ndjson:5: expected a JSON object, found null",
        "t.ndjson:6: JSON nested too deeply",
    ]


def test_problems_of_one_file_limited(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "t.jsonl", lines({"text": "ok"}) + "rubbish\n" * 5000))
    assert len(list(reading)) == 1
    assert reading.counts.failed == 5000
    assert len(reading.problems) == 101
    assert reasons(reading)[-1] == "t.jsonl: 4,900 more like these in this file"


def test_truncated_gzip_keeps_earlier_lines(tmp_path: Path) -> None:
    rows = [{"text": f"row {n} {n * 7919 % 10007}"} for n in range(20_000)]
    packed = gzip.compress(lines(*rows).encode())
    (tmp_path / "t.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    reading = read(tmp_path / "t.jsonl.gz")
    texts = [document.text for document in reading]
    assert 5000 < len(texts) < 15_000
    assert texts == [row["text"] for row in rows[: len(texts)]]
    assert reasons(reading) == [f"t.jsonl.gz:{len(texts) + 1}: the compressed data end early; earlier lines are kept"]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.txt.gz"])
def test_short_truncated_gzip(tmp_path: Path, name: str) -> None:
    packed = gzip.compress(b"text\n" + b"".join(b"row %d\n" % (n * n) for n in range(1000)))
    (tmp_path / name).write_bytes(packed[:-20])
    reading = read(tmp_path / name)
    first = next(iter(reading))
    assert "row 0" in first.text
    list(reading)
    assert "the compressed data end early; " in reasons(reading)[0]


def test_invalid_gzip(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "text")
    write(tmp_path / "b.jsonl.gz", "plain")
    reading = read(tmp_path)
    assert len(list(reading)) == 1
    assert reasons(reading) == ["b.jsonl.gz:1: the compressed data are damaged; earlier lines are kept"]


def test_standard_input_of_json_lines() -> None:
    reading = read("-", stdin=io.BytesIO(lines({"text": "one"}, {"text": "two", "id": "x"}).encode()))
    assert [(d.id, d.source) for d in reading] == [("stdin:1", "-"), ("x", "-")]
    with pytest.raises(UsageError, match="standard input can be read only once"):
        list(reading)


def test_standard_input_of_the_process_and_of_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(read("-", stdin=io.StringIO(lines({"text": "né"})))).text == "né"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "own"}')))
    assert only(read("-")).text == "own"


def test_duplicate_ids_get_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "id,text\na,1\na,2\na#2,3\na,4\n")
    reading = read(path)
    assert [document.id for document in reading] == ["a", "a#2", "a#2#2", "a#3"]
    assert reading.counts.renamed == 3


def test_parquet_in_batches(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    number = 600
    table = pyarrow.table(
        {
            "key": list(range(number)),
            "body": [f"text {n}" for n in range(number)],
            "topic": [["a", "b"]] * number,
            "day": [datetime.date(2020, 1, 2)] * number,
            "picture": [b"\xff\xd8"] * number,
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    columns = Columns(id="key", text="body", label="topic", date="day")
    documents = list(read(tmp_path / "t.parquet", columns))
    assert len(documents) == number
    assert documents[599] == Document(
        "599", "text 599", "text 599", ("a", "b"), str(tmp_path / "t.parquet"), "2020-01-02"
    )
    assert [d.id for d in read(tmp_path / "t.parquet", Columns(text="body"), limit=2)] == [
        "t.parquet:1",
        "t.parquet:2",
    ]


def test_parquet_read_by_worker(tmp_path: Path) -> None:
    """A few kilobytes of Parquet may take gigabytes: in this process nothing would stop it."""
    (tmp_path / "t.parquet").write_bytes(parquet([{"text": "arrow words"}]))
    code = "import sys; from topiarist.text.readers import read; print([d.text for d in read('t.parquet')])"
    code += "; print('pyarrow.parquet' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:2] == ["['arrow words']", "False"], done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no limit of memory that holds")
def test_parquet_bomb_below_gigabyte(tmp_path: Path) -> None:
    """All processes together: 3 kB hold 30 MB of text, 500 times."""
    import pyarrow
    from pyarrow import parquet as writer

    values = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * 500, pyarrow.int16()), pyarrow.array(["xy z " * 6_000_000])
    )
    writer.write_table(pyarrow.table({"text": values}), tmp_path / "t.parquet", compression="zstd")
    (tmp_path / "a.txt").write_text("words")
    code = (
        "import resource; from topiarist.text.readers import read; r = read('.'); print(len([*r]), r.problems);"
        "own = [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')];"
        "print(int(own[0]) + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    said, kilobytes = done.stdout.splitlines()
    assert "its rows need more than 512 MB of memory" in said
    assert int(kilobytes) < 1_000_000


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = write(tmp_path / "t.parquet", "x")
    for source in (path, tmp_path):  # named, and as the only file of a folder
        with pytest.raises(ResourceError) as caught:
            list(read(source))
        assert caught.value.message == "reading Parquet requires pyarrow, which is not installed."
        assert caught.value.hint == "Run pip install 'topiarist[parquet]'."
    write(tmp_path / "a.txt", "text")
    reading = read(tmp_path)
    assert len(list(reading)) == 1
    assert reasons(reading) == ["t.parquet: reading Parquet requires pyarrow, which is not installed."]


def test_empty_table_empty_document(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "text")
    for name in ("b.csv", "c.jsonl", "d.mbox"):
        write(tmp_path / name, "")
    write(tmp_path / "e.csv", "id,text\n")
    reading = read(tmp_path)
    assert len(list(reading)) == 1
    assert reading.counts.empty == 4


def test_long_lines_and_texts_limited(tmp_path: Path) -> None:
    rows = [{"text": "a" * 150}, {"text": "b" * 200_000}, {"text": "c"}]
    write(tmp_path / "t.jsonl", lines(*rows))
    write(tmp_path / "u.csv", "text\n" + "".join(row["text"] + "\n" for row in rows))
    reading = read(tmp_path, limits=Limits(characters=100))
    assert [len(document.text) for document in reading] == [100, 1, 100, 1]
    assert reasons(reading) == [
        "t.jsonl:1: only the first 100 characters are kept",
        "t.jsonl:2: the line is too long",
        "u.csv:2: only the first 100 characters are kept",
        "u.csv:3: the line is too long",
    ]
    assert (reading.counts.partial, reading.counts.failed) == (2, 2)


def test_xml_elements_at_path_documents(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    path.write_text(
        '<rss xmlns:d="urn:d"><channel><title>News</title><item n="1"><d:title>One</d:title>'
        "<body>first <b>words</b></body></item><item>"
        "<title>Two</title><body>second</body><body>more</body></item></channel></rss>"
    )
    found = list(read(path, xml_path="channel/item"))
    assert [(one.id, one.title, one.text) for one in found] == [
        ("feed.xml:1", "One", "One\nfirst words"),
        ("feed.xml:2", "Two", "Two\nsecond\nmore"),
    ]
    assert [one.text for one in read(path, Columns(text="body"), xml_path="/rss/channel/item")] == [
        "first words",
        "second\nmore",
    ]
    with pytest.raises(InputError, match="no element at the path entry"):
        list(read(path, xml_path="entry"))
    whole = read(path)
    assert [one.title for one in whole] == ["News"]


def test_xml_suggests_path_of_elements(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<all>" + "<r>words</r>" * 12 + "</all>")
    reading = read(tmp_path)
    assert len(list(reading)) == 1
    assert reasons(reading) == ['a.xml: is one document; xml-path = "r" would make 12 of it']


def test_table_workers_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    true = pool._Worker.__init__
    monkeypatch.setattr(pool._Worker, "__init__", lambda self, *given: (started.append(self), true(self, *given))[1])
    for number in range(5):
        (tmp_path / f"{number}.json").write_text('[{"text": "words"}]')
    assert len(list(read(tmp_path))) == 5
    assert len(started) == 1
    assert started[0]._process.poll() is not None


def test_xml_inline_text_not_split(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<a><d>un<b>believ</b>able<p>price</p>here</d><d>end</d></a>")
    assert only(read(tmp_path)).text == "unbelievable\nprice\nhere\nend"


def test_rows_without_text_are_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", '{"text": 5}\n{"text": true}\n{"a": 1}\n"x"\n"words"\n{"text": "fine"}\n')
    reading = read(path)
    assert [document.text for document in reading] == ["words", "fine"]
    assert reasons(reading) == [
        "t.jsonl:1: expected text in text, found a number",
        "t.jsonl:2: expected text in text, found true or false",
        "t.jsonl:3: no text",
        "t.jsonl:4: expected a JSON object, found “x”",
    ]


def test_later_table_of_one_short_column_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", '{"a": "b"}\n')
    assert only(read(path)).text == "b"
    with pytest.raises(UsageError, match="known to hold the text"):
        read(path, Columns(preferred=(TableColumns("body", "", "", "", ""),)))
