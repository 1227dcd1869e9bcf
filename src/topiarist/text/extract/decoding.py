"""Bytes to text: UTF-8 first, then a guess from a sample, and a refusal of what is no text at all.

A file counts as UTF-8 as long as most of its lines are; a single line in another encoding is decoded on its
own, so that a log of mixed origin loses nothing.
"""

from __future__ import annotations

import codecs
import re

from topiarist.text.extract.limits import ExtractError

SAMPLE_BYTES = 65_536
_UTF8 = ("utf-8", "utf-8-sig")
_GUESS_BYTES = 16_384

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Still in use, and told apart by their bytes. Where two explain a sample equally well, the earlier one wins.
_LEGACY = (
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp874",
)  # fmt: skip
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS = 0.02  # share of a sample; text has next to none, binary data about a tenth
_MOST_CHAOS = 0.5  # of charset-normalizer's measure: a short line full of accents looks messy, binary data worse
_WIDE_NULS = 0.3  # share of NUL bytes on one side in UTF-16 without a mark, even when half of it is not Latin


class NotTextError(ExtractError):
    """The bytes are no text in any encoding known here."""


class Decoder:
    """Decodes the lines of one file, whose first bytes are `sample`. `encoding` is what most lines are in."""

    def __init__(self, sample: bytes) -> None:
        self.encoding = _encoding(sample)
        self._fallback = "" if self.encoding in _UTF8 else self.encoding

    @property
    def wide(self) -> bool:
        """Whether line ends are more than one byte long."""
        return self.encoding.startswith(("utf-16", "utf-32"))

    def decode(self, data: bytes) -> str:
        """The text of whole lines."""
        try:
            return data.decode(self.encoding)
        except UnicodeDecodeError:
            if self.encoding not in _UTF8:
                return data.decode(self.encoding, "replace")
        lines = data.split(b"\n")
        if len(lines) > 1:
            return "\n".join(map(self.decode, lines))
        self._fallback = self._fallback or _guess(data) or "cp1252"
        return data.decode(self._fallback, "replace")


def decode(data: bytes) -> str:
    """The text of a whole document in an unknown encoding; raises `NotTextError` on binary data."""
    return Decoder(data[:SAMPLE_BYTES]).decode(data)


def decode_as(data: bytes, declared: str) -> str:
    """The text of a document that declares its encoding, which is believed unless its bytes say otherwise."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    if declared.lower() not in ("ascii", "us-ascii", "utf-8"):
        try:
            return data.decode(declared, "replace")
        except (LookupError, UnicodeError):
            pass
    return decode(data)


def _encoding(sample: bytes) -> str:
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    if b"\0" in sample:
        return _wide_encoding(sample)
    if len(_CONTROLS.findall(sample)) > _MOST_CONTROLS * len(sample):
        raise NotTextError("not text: control characters")
    try:
        # Not final: the sample may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=False)
    except UnicodeDecodeError:
        return _mixed_or_legacy(sample)
    return "utf-8"


def _wide_encoding(sample: bytes) -> str:
    sides = {"utf-16-be": sample[0::2], "utf-16-le": sample[1::2]}
    for name, side in sides.items():
        other = sample[1::2] if name == "utf-16-be" else sample[0::2]
        if side.count(0) > _WIDE_NULS * len(side) and other.count(0) == 0:
            return name
    raise NotTextError("not text: NUL bytes")


def _mixed_or_legacy(sample: bytes) -> str:
    """UTF-8 when most of the lines that could tell are UTF-8, else one encoding for the whole file."""
    *whole, cut = sample.split(b"\n")  # the last line may end inside a character
    lines = [line for line in (whole or [cut]) if not line.isascii()] or [cut]
    foreign = [line for line in lines if not _is_utf8(line)]
    if 2 * len(foreign) < len(lines):
        return "utf-8"
    guess = _guess(b"\n".join(foreign))
    if guess is None:
        raise NotTextError("not text: no known encoding fits")
    return guess


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _guess(data: bytes) -> str | None:
    """The likeliest legacy encoding. Ties are common on short samples and go to the more widespread one."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(data[:_GUESS_BYTES], cp_isolation=list(_LEGACY), threshold=_MOST_CHAOS))
    if not matches:
        return None
    best = matches[0]
    tied = {
        name
        for match in matches
        if (match.chaos, match.coherence) == (best.chaos, best.coherence)
        for name in (match.encoding, *match.could_be_from_charset)
    }
    return next((name for name in _LEGACY if name in tied), best.encoding)
