"""Word documents of five programs, with faults that Word repairs."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.text.readers.makers import only
from tests.text.readers.office_makers import pptx, zipped
from tests.text.readers.word_makers import (
    PRODUCERS,
    XML,
    W,
    package,
    paragraph,
    python_docx,
    run,
    word_file,
)
from topiarist.text.parsers import ExtractError, Limits, word
from topiarist.text.parsers.office import extract_slides
from topiarist.text.parsers.word import extract_docx
from topiarist.text.readers import read

N_FILES = 200


def text_of(data: bytes) -> str:
    return extract_docx(io.BytesIO(data), Limits()).text


def test_files_of_five_programs_are_read() -> None:
    for number in range(N_FILES):
        words = [f"word{number}{letter}" for letter in "abcde"]
        words[1] = f"& <{words[1]}>"
        text = text_of(word_file(number, words))
        assert [text.count(word) for word in words] == [1] * 5, (number, text)
        assert "gone" not in text
        assert "\t" not in text


@pytest.mark.parametrize("make", PRODUCERS)
def test_prefix_errors_do_not_change_the_text(make) -> None:
    number = PRODUCERS.index(make)
    texts = {text_of(word_file(number + len(PRODUCERS) * oddity, list("abcde"))) for oddity in range(8)}
    assert len(texts) == 1


def test_paragraphs_tables_and_notes_in_order() -> None:
    assert text_of(zipped(python_docx(list("abcde")))) == "e\n\nab\n\nc\n\nd"
    facts = extract_docx(io.BytesIO(zipped(python_docx(list("abcde")))), Limits())
    assert (facts.title, facts.file_date) == ("Minutes", "2020-01-02T03:04:05Z")


def test_embedded_web_page_is_part_of_the_text() -> None:
    body = f'{XML}<w:document xmlns:w="{W}"><w:body>{paragraph(run("before"))}<w:altChunk r:id="rId0"/></w:body></w:document>'
    parts = package(body, ("aFChunk", "chunk.htm", "<html><body><p>inside</p></body></html>"))
    assert text_of(zipped(parts)) == "before\n\ninside"


def test_embedded_page_of_many_references_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = '<w:altChunk r:id="rId0"/>' * 200
    body = f'{XML}<w:document xmlns:w="{W}"><w:body>{chunks}</w:body></w:document>'
    data = zipped(package(body, ("aFChunk", "chunk.htm", "<html><body><p>inside</p></body></html>")))
    pages: list[bytes] = []
    monkeypatch.setattr(word, "decode_page", lambda page: pages.append(page) or page.decode())
    assert extract_docx(io.BytesIO(data), Limits()).text.split() == ["inside"] * 200
    assert extract_docx(io.BytesIO(data), Limits(characters=20)).text.split() == ["inside"] * 4
    assert len(pages) == 2


def test_other_formats_under_the_name_of_word(tmp_path: Path) -> None:
    flat = f'{XML}<pkg:package xmlns:pkg="urn:p"><w:body xmlns:w="{W}">{paragraph(run("flat"))}</w:body></pkg:package>'
    for name, content in {"rich": r"{\rtf1 rich}", "page": "<html><p>page</p></html>", "flat": flat}.items():
        path = tmp_path / f"{name}.docx"
        path.write_text(content)
        assert only(read(path)).text.strip() == name


def test_damaged_and_foreign_files_have_true_reasons() -> None:
    for data, reason in (
        (pptx(("a", "b", "c")), "a zip file, but not a Word document"),
        (zipped(package("")), "a Word document whose text is damaged"),
        (b"rubbish", "not a Word document, or a damaged one"),
        (b"<?xml version='1.0'?><a/>", "not a Word document, or a damaged one"),
    ):
        with pytest.raises(ExtractError, match=reason):
            text_of(data)


def test_slides_with_undeclared_prefix_are_read() -> None:
    import zipfile

    source, changed = zipfile.ZipFile(io.BytesIO(pptx(("a", "first", "note")))), {}
    for name in source.namelist():
        changed[name] = source.read(name).replace(
            b'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"', b""
        )
    assert "first" in extract_slides(io.BytesIO(zipped(changed)), Limits()).text
