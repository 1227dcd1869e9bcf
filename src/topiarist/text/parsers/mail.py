"""Text, header fields and attachments of one message, from e-mail (.eml) or Outlook (.msg)."""

from __future__ import annotations

import base64
import email
import io
import re
from collections.abc import Iterator
from email import policy
from email.errors import CloseBoundaryNotFoundDefect
from email.message import EmailMessage, Message
from email.utils import getaddresses

from topiarist.text.parsers.decoding import decode, decode_as
from topiarist.text.parsers.html import decode_page, get_page_text
from topiarist.text.parsers.limits import Attachment, Extracted, ExtractError, Limits, Source, read_source, read_start

_NOT_BASE64 = re.compile(r"=.*|[^A-Za-z0-9+/]", re.DOTALL)
HEADER_COLUMNS = (
    "from", "to", "cc", "subject", "reply-to", "list-id", "newsgroups", "organization", "keywords", "importance",
)  # fmt: skip
_ADDRESS_HEADERS = ("from", "to", "cc", "reply-to")
_MAX_ADDRESS_LENGTH = 20_000  # characters of addresses
_BODY_TYPES = ("plain", "html")
MAX_ATTACHMENTS = 1000  # files of one message
_SUFFIXES = {"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "message/rfc822": ".eml"}


def extract_mail(source: Source, limits: Limits) -> Extracted:
    """Return the plain text of a message, else the text of its HTML; the subject becomes the title."""
    data, is_cut = read_source(source, limits)  # what is beyond the limit is attachments
    message = email.message_from_bytes(data, policy=policy.default)
    if not message.keys():
        raise ExtractError("not an e-mail: it has no header lines")
    text, bodies = "", []
    for body_type in _BODY_TYPES:
        part = _find_body(message, body_type)
        if part is not None:
            bodies.append(part)
        if part is not None and not text.strip():
            text = _decode_text(part)
    attachments, n_over_limit = _read_attachments(message, bodies)
    note = f"longer than {len(data):,} bytes: attachments at its end may be missing" if is_cut and attachments else ""
    if attachments and any(isinstance(defect, CloseBoundaryNotFoundDefect) for defect in message.defects):
        note = "has no end: its last attachment may be cut off"
    note = f"{n_over_limit:,} attachments more than {MAX_ATTACHMENTS:,} are left out" if n_over_limit else note
    title, date = _get_header(message, "subject"), _get_header(message, "date")
    return Extracted(text, title, date, note, tuple(attachments), columns=_read_columns(message))


def _read_attachments(message: EmailMessage, bodies: list[Message]) -> tuple[list[Attachment], int]:
    """Return the attachments (parts with a name or an attachment header), and how many exceed the limit."""
    attachments: list[Attachment] = []
    n_over_limit = 0
    for part in _walk_parts(message):
        name = _get_file_name(part)
        if any(part is body for body in bodies) or not (name or part.get_content_disposition() == "attachment"):
            continue
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload()
            data = inner[0].as_bytes() if isinstance(inner, list) and isinstance(inner[0], Message) else b""
        else:
            data = _decode_part(part)
        if len(attachments) >= MAX_ATTACHMENTS:
            n_over_limit += 1
        else:
            attachments.append(Attachment(name or f"attachment{_SUFFIXES.get(part.get_content_type(), '')}", data))
    return attachments, n_over_limit


def _walk_parts(message: Message) -> Iterator[Message]:
    """Yield the parts of a message with content, without those of attached messages."""
    pending: list[Message] = [message]
    while pending:
        part = pending.pop()
        inner = part.get_payload()
        if part.get_content_type() != "message/rfc822" and part.is_multipart() and isinstance(inner, list):
            pending.extend(child for child in reversed(inner) if isinstance(child, Message))
        elif part is not message:
            yield part


def _get_file_name(part: Message) -> str:
    """Return the name of an attachment without folders."""
    try:
        name = part.get_filename() or ""
    except Exception:  # as with every header: the parser raises many things
        name = ""
    if not name and part.get_content_type() == "message/rfc822":
        name = "message.eml"
    return " ".join(name.replace("\\", "/").rpartition("/")[2].split())


def _find_body(message: EmailMessage, subtype: str) -> Message | None:
    """Return the first part of a message with the MIME type ``text/<subtype>``; None without one."""
    body = message.get_body((subtype,))
    if body is not None:
        return body
    # Some programs put the text where get_body does not look, for example inside a signed part.
    for part in message.walk():
        if part.get_content_type() == f"text/{subtype}" and part.get_content_disposition() != "attachment":
            return part
    return None


def _decode_text(part: Message) -> str:
    text = decode_as(_decode_part(part), part.get_content_charset() or "utf-8")
    if part.get_content_subtype() == "html":
        return get_page_text(text)[1]
    return text.replace("\r\n", "\n")


def _decode_part(part: Message) -> bytes:
    """Return the bytes of a part. The standard library returns truncated base64 undecoded."""
    if str(part.get("content-transfer-encoding", "")).strip().lower() == "base64":
        letters = _NOT_BASE64.sub("", str(part.get_payload()))
        letters = letters[: len(letters) - (len(letters) % 4 == 1)]
        return base64.b64decode(letters + "=" * (-len(letters) % 4))
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _get_header(message: EmailMessage, name: str) -> str:
    """Return a header on one line; its raw text if the standard library cannot parse it."""
    try:
        value = str(message[name] or "")
    except Exception:  # the header parser of the standard library raises many things on malformed lines
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == name), "")
    return " ".join(value.split())


def _read_columns(message: EmailMessage) -> tuple[tuple[str, str], ...]:
    """Return header fields on sender, receivers and subject; several addresses are several values."""
    columns = []
    for name in HEADER_COLUMNS:
        value = _get_header(message, name)
        columns += [(name, part) for part in (_split_addresses(value) if name in _ADDRESS_HEADERS else [value]) if part]
    return tuple(columns)


def _split_addresses(value: str) -> list[str]:
    """Return each address with its name; a text that is no list of addresses stays whole."""
    if len(value) > _MAX_ADDRESS_LENGTH:
        value = value[:_MAX_ADDRESS_LENGTH].rpartition(",")[0]
    parts = [_format_address(*pair) for pair in getaddresses([value])]
    return [part for part in parts if part] or [value]


def _format_address(name: str, address: str) -> str:
    return f"{name} <{address}>" if name and address else address or name


_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")


def extract_msg(source: Source, limits: Limits) -> Extracted:
    """Return the plain text of an Outlook message, else the text of its HTML; the subject becomes the title."""
    from oxmsg import Message

    if read_start(source, len(_OLE_MAGIC)) != _OLE_MAGIC:
        raise ExtractError("not an Outlook message")
    with io.BytesIO(source.getvalue()) if isinstance(source, io.BytesIO) else open(source, "rb") as stream:
        try:
            message = Message.load(stream)
            text, sent_date = _choose_msg_text(message.body, message.html_body), message.sent_date
            title = message.subject or ""
            attachments, n_skipped = _read_msg_attachments(message.attachments, limits)
        except (OSError, KeyError, ValueError, AssertionError, UnicodeError) as error:
            raise ExtractError("not an Outlook message, or a damaged one") from error
    note = f"{n_skipped} attachments could not be taken out" if n_skipped else ""
    if not text.strip() and not note:
        note = "no plain text and no HTML in this message (Rich Text only?)"
    return Extracted(
        text, title=title, date=sent_date.isoformat() if sent_date else "", note=note, attachments=tuple(attachments)
    )


def _choose_msg_text(plain: str | None, html: str | bytes | None) -> str:
    """Return the plain text of an Outlook message; the text of its HTML if the plain text is empty."""
    if plain and plain.strip():
        return plain.replace("\r\n", "\n")
    if isinstance(html, bytes):
        html = decode_page(html) if html.lstrip()[:1] == b"<" else decode(html)
    return get_page_text(html)[1] if html else ""


def _read_msg_attachments(msg_attachments: object, limits: Limits) -> tuple[list[Attachment], int]:
    """Return the attachments within the limit of bytes, and how many were skipped."""
    attachments: list[Attachment] = []
    size = n_skipped = 0
    for msg_attachment in msg_attachments if isinstance(msg_attachments, tuple | list) else ():
        data = msg_attachment.file_bytes if len(attachments) < MAX_ATTACHMENTS else None
        if data is None or size + len(data) > limits.raw_bytes:
            n_skipped += 1
            continue
        size += len(data)
        attachments.append(Attachment(msg_attachment.file_name or "attachment", data))
    return attachments, n_skipped
