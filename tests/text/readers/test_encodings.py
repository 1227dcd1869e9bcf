"""Bytes to text, in the encodings people have, and the refusal of what is no text."""

from __future__ import annotations

import codecs
import random
from pathlib import Path

import pytest

from tests.text.readers.makers import only, reasons
from topiarist.text.parsers.decoding import Decoder, NotTextError, decode
from topiarist.text.readers import read

FRENCH = "Le café est fermé, déjà vu à l'été.\n"
JAPANESE = "日本語の文章です。これは試験です。\n東京都に行きました。\n"
RUSSIAN = "Привет, как дела? Это простой текст.\nМы пошли домой.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (FRENCH, "utf-8-sig"),
        (FRENCH, "utf-16"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
        (FRENCH, "utf-32"),
        (FRENCH, "latin-1"),
        ("“Quoted” — it’s fine", "cp1252"),
        ("Größe und Übermut tun selten gut.", "latin-1"),
        ("naïve", "latin-1"),
        ("Zażółć gęślą jaźń, proszę bardzo.", "cp1250"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "utf-16"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        ("中文文本测试，我们今天去北京。", "gb18030"),
        ("한국어 문장입니다. 오늘 날씨가 좋습니다.", "cp949"),
    ],
)
def test_decode_plain_text_encodings(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert only(read(path)).text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", f'id,text\r\nn1,"{FRENCH[:-1]}"\r\n'),
        ("a.jsonl", f'{{"id": "n1", "text": "{FRENCH[:-1]}"}}\n'),
    ],
)
def test_read_tables_in_encodings(tmp_path: Path, encoding: str, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode(encoding))
    document = only(read(tmp_path / name))
    assert (document.id, document.text) == ("n1", FRENCH.strip())


def test_decoder_reads_mixed_encodings(tmp_path: Path) -> None:
    mixed = ("naïve été ☃\n" * 3).encode() + "déjà vu, à l'été\n".encode("latin-1") + "fin ☃\n".encode()
    (tmp_path / "a.txt").write_bytes(mixed)
    assert only(read(tmp_path / "a.txt")).text == "naïve été ☃\n" * 3 + "déjà vu, à l'été\nfin ☃\n"


def test_decoder_reads_late_foreign_line(tmp_path: Path) -> None:
    rows = '{"text": "été"}\n'.encode() * 10_000 + '{"text": "déjà vu, à l\'été"}\n'.encode("latin-1")
    (tmp_path / "a.jsonl").write_bytes(rows)
    *_, last = read(tmp_path / "a.jsonl")
    assert last.text == "déjà vu, à l'été"


def test_decoder_sample_ends_inside_character() -> None:
    assert Decoder("☃☃".encode()[:-1]).encoding == "utf-8"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"MZ\x90\x00\x03\x00\x00\x00\x04\x00", "not text: NUL bytes"),
        (bytes(range(1, 32)) * 3, "not text: control characters"),
        (random.Random(0).randbytes(3000).replace(b"\0", b"\xff"), "not text: "),
    ],
)
def test_binary_data_in_text_file_skipped(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(NotTextError, match=reason):
        decode(data)
    (tmp_path / "a.txt").write_text("text")
    for name in ("b.txt", "c.csv", "d.jsonl"):
        (tmp_path / name).write_bytes(data)
    reading = read(tmp_path)
    assert [document.text for document in reading] == ["text"]
    assert reading.counts.failed == 3
    assert all(reason in told for told in reasons(reading))


def test_to_storable_repairs_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"id": "\\ud800", "title": "t\\u0000", "text": "a\\ud83d b\\u0000c \\ud83d\\ude00"}'
    )
    document = only(read(tmp_path / "a.jsonl"))
    assert (document.id, document.title, document.text) == ("\ufffd", "t", "a\ufffd bc \U0001f600")


def test_byte_order_mark_alone_empty(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.txt").write_bytes(codecs.BOM_UTF8)
    (tmp_path / "c.csv").write_bytes(codecs.BOM_UTF16_LE)
    reading = read(tmp_path)
    assert len(list(reading)) == 1
    assert reading.counts.empty == 2
