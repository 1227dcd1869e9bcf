"""Decoding of bytes to text: UTF-8 first, then a guess from a sample; binary data are refused.

A file is UTF-8 if most of its lines are. A line in another encoding is decoded on its own, so that a log of mixed
origin loses nothing.
"""

from __future__ import annotations

import codecs
import re

from topiarist.text.parsers.limits import ExtractError

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

# Legacy encodings in use, which their bytes distinguish. If two fit a sample equally well, the earlier one wins.
_LEGACY = (
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp874",
)  # fmt: skip
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAX_CONTROL_SHARE = 0.02  # share of a sample; text has almost none, binary data about a tenth
_MAX_CHAOS = (
    0.5  # of charset-normalizer; higher than its default for short lines with many accents, lower than binary data
)
_MIN_NUL_SHARE = 0.3  # of NUL bytes in the high bytes of UTF-16 without a mark, if half of the text is Latin


class NotTextError(ExtractError):
    """Bytes that are no text in any known encoding."""


class Decoder:
    """Decoder of the lines of one file, whose first bytes are `sample`; `encoding` is that of most lines."""

    def __init__(self, sample: bytes) -> None:
        self.encoding = _detect_encoding(sample)
        self._fallback = "" if self.encoding in _UTF8 else self.encoding

    @property
    def is_wide(self) -> bool:
        """Whether line ends are more than one byte long."""
        return self.encoding.startswith(("utf-16", "utf-32"))

    def decode(self, data: bytes) -> str:
        """Decode complete lines; the first line that is not UTF-8 sets the encoding of all such lines."""
        try:
            return data.decode(self.encoding)
        except UnicodeDecodeError:
            if self.encoding not in _UTF8:
                return data.decode(self.encoding, "replace")
        lines = data.split(b"\n")
        if len(lines) > 1:
            return "\n".join(map(self.decode, lines))
        self._fallback = self._fallback or _guess_encoding(data) or "cp1252"
        return data.decode(self._fallback, "replace")


def decode(data: bytes) -> str:
    """Return the text of a document in an unknown encoding; `NotTextError` for binary data."""
    return Decoder(data[:SAMPLE_BYTES]).decode(data)


def decode_as(data: bytes, declared_encoding: str) -> str:
    """Return the text of a document in its declared encoding, unless the bytes contradict it."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    if declared_encoding.lower() not in ("ascii", "us-ascii", "utf-8"):
        try:
            return data.decode(declared_encoding, "replace")
        except (LookupError, UnicodeError):
            pass
    return decode(data)


def _detect_encoding(sample: bytes) -> str:
    """Return the name of the encoding of a sample of bytes; raise NotTextError if it is not text."""
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    if b"\0" in sample:
        return _detect_wide_encoding(sample)
    if len(_CONTROLS.findall(sample)) > _MAX_CONTROL_SHARE * len(sample):
        raise NotTextError("not text: control characters")
    try:
        # Not final: the sample may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=False)
    except UnicodeDecodeError:
        return _detect_mixed_encoding(sample)
    return "utf-8"


def _detect_wide_encoding(sample: bytes) -> str:
    """Return the byte order of UTF-16 without a mark; raise NotTextError for other NUL bytes."""
    sides = {"utf-16-be": sample[0::2], "utf-16-le": sample[1::2]}
    for name, side in sides.items():
        other = sample[1::2] if name == "utf-16-be" else sample[0::2]
        if side.count(0) > _MIN_NUL_SHARE * len(side) and other.count(0) == 0:
            return name
    raise NotTextError("not text: NUL bytes")


def _detect_mixed_encoding(sample: bytes) -> str:
    """Return UTF-8 if most non-ASCII lines are, else another encoding. Raise NotTextError without one."""
    *complete, cut = sample.split(b"\n")  # the last line may end inside a character
    lines = [line for line in (complete or [cut]) if not line.isascii()] or [cut]
    other_lines = [line for line in lines if not _is_utf8(line)]
    if 2 * len(other_lines) < len(lines):
        return "utf-8"
    guess = _guess_encoding(b"\n".join(other_lines))
    if guess is None:
        raise NotTextError("not text: no known encoding fits")
    return guess


def _is_utf8(line: bytes) -> bool:
    """Return whether the bytes of a line are valid UTF-8."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _guess_encoding(data: bytes) -> str | None:
    """Return the likeliest legacy encoding. Ties are common in short samples and go to the more frequent one."""
    from charset_normalizer import from_bytes

    matches = list(from_bytes(data[:_GUESS_BYTES], cp_isolation=list(_LEGACY), threshold=_MAX_CHAOS))
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
