"""One e-mail message: its subject, its date, its sender and receivers, its text and the files that came with it."""

from __future__ import annotations

import base64
import email
import re
from collections.abc import Iterator
from email import policy
from email.errors import CloseBoundaryNotFoundDefect
from email.message import EmailMessage, Message
from email.utils import getaddresses

from topiarist.text.extract.decoding import decode_as
from topiarist.text.extract.html import page_text
from topiarist.text.extract.limits import Attached, Extracted, ExtractError, Limits, Source, source_bytes

_NOT_BASE64 = re.compile(r"=.*|[^A-Za-z0-9+/]", re.DOTALL)
FIELDS = ("from", "to", "cc", "subject", "reply-to", "list-id", "newsgroups", "organization", "keywords", "importance")
_ADDRESSES = ("from", "to", "cc", "reply-to")
_LONGEST_LIST = 20_000  # characters of addresses
_PREFERENCE = ("plain", "html")
MOST_ATTACHED = 1000  # files of one message
_SUFFIXES = {"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "message/rfc822": ".eml"}


def extract(source: Source, limits: Limits) -> Extracted:
    """The plain text of a message, else the text of its HTML; the subject becomes the title."""
    data, more = source_bytes(source, limits)  # what is beyond the limit is attachments
    message = email.message_from_bytes(data, policy=policy.default)
    if not message.keys():
        raise ExtractError("not an e-mail: it has no header lines")
    text, bodies = "", []
    for wanted in _PREFERENCE:
        part = _body(message, wanted)
        if part is not None:
            bodies.append(part)
        if part is not None and not text.strip():
            text = _part_text(part)
    attached, left = _attached(message, bodies)
    note = f"longer than {len(data):,} bytes: attachments at its end may be missing" if more and attached else ""
    if attached and any(isinstance(defect, CloseBoundaryNotFoundDefect) for defect in message.defects):
        note = "has no end: its last attachment may be cut off"
    note = f"{left:,} attachments more than {MOST_ATTACHED:,} are left out" if left else note
    title, date = _header(message, "subject"), _header(message, "date")
    return Extracted(text, title, date, note, tuple(attached), columns=_columns(message))


def _attached(message: EmailMessage, bodies: list[Message]) -> tuple[list[Attached], int]:
    """The files that came with a message: every part with a name, or that says it is attached."""
    attached: list[Attached] = []
    left = 0
    for part in _own_parts(message):
        name = _file_name(part)
        if any(part is body for body in bodies) or not (name or part.get_content_disposition() == "attachment"):
            continue
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            data = inner[0].as_bytes() if isinstance(inner, list) and isinstance(inner[0], Message) else b""
        else:
            data = _content(part)
        if len(attached) >= MOST_ATTACHED:
            left += 1
        else:
            attached.append(Attached(name or f"attachment{_SUFFIXES.get(part.get_content_type(), '')}", data))
    return attached, left


def _own_parts(message: Message) -> Iterator[Message]:
    """The parts of a message that hold something, but not those of a message that came with it."""
    pending: list[Message] = [message]
    while pending:
        part = pending.pop()
        inner = part.get_payload()
        if part.get_content_type() != "message/rfc822" and part.is_multipart() and isinstance(inner, list):
            pending.extend(one for one in reversed(inner) if isinstance(one, Message))
        elif part is not message:
            yield part


def _file_name(part: Message) -> str:
    """The name of a file, without folders before it."""
    try:
        name = part.get_filename() or ""
    except Exception:  # as with every header: the parser raises many things
        name = ""
    if not name and part.get_content_type() == "message/rfc822":
        name = "message.eml"
    return " ".join(name.replace("\\", "/").rpartition("/")[2].split())


def _body(message: EmailMessage, subtype: str) -> Message | None:
    body = message.get_body((subtype,))
    if body is not None:
        return body
    # Some programs put the text where get_body does not look, for example inside a signed part.
    for part in message.walk():
        if part.get_content_type() == f"text/{subtype}" and part.get_content_disposition() != "attachment":
            return part
    return None


def _part_text(part: Message) -> str:
    text = decode_as(_content(part), part.get_content_charset() or "utf-8")
    if part.get_content_subtype() == "html":
        return page_text(text)[1]
    return text.replace("\r\n", "\n")


def _content(part: Message) -> bytes:
    """The bytes of a part. The standard library would give base64 that breaks off as it is written."""
    if str(part.get("content-transfer-encoding", "")).strip().lower() == "base64":
        written = _NOT_BASE64.sub("", str(part.get_payload()))
        written = written[: len(written) - (len(written) % 4 == 1)]
        return base64.b64decode(written + "=" * (-len(written) % 4))
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = str(message[name] or "")
    except Exception:  # the header parser of the standard library raises many things on malformed lines
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == name), "")
    return " ".join(value.split())


def _columns(message: EmailMessage) -> tuple[tuple[str, str], ...]:
    """The fields of the header that say who wrote what to whom; several addresses are several values."""
    found = []
    for name in FIELDS:
        value = _header(message, name)
        found += [(name, one) for one in (_addresses(value) if name in _ADDRESSES else [value]) if one]
    return tuple(found)


def _addresses(value: str) -> list[str]:
    """Each address by itself, with its name; what is no list of addresses stays whole."""
    if len(value) > _LONGEST_LIST:
        value = value[:_LONGEST_LIST].rpartition(",")[0]
    parts = [_shown(*one) for one in getaddresses([value])]
    return [part for part in parts if part] or [value]


def _shown(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and address else address or name
