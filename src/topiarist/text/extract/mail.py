"""One e-mail message: its subject, its date and its text. Attachments are left alone."""

from __future__ import annotations

import email
from datetime import datetime
from email import policy
from email.message import EmailMessage, Message
from email.utils import parsedate_to_datetime

from topiarist.text.extract.decoding import decode_as
from topiarist.text.extract.html import page_text
from topiarist.text.extract.limits import Extracted, ExtractError, Limits, Source, source_bytes

_PREFERENCE = ("plain", "html")


def extract(source: Source, limits: Limits) -> Extracted:
    """The plain text of a message, else the text of its HTML; the subject becomes the title."""
    data, _ = source_bytes(source, limits)  # what is beyond the limit is attachments
    message = email.message_from_bytes(data, policy=policy.default)
    if not message.keys():
        raise ExtractError("not an e-mail: it has no header lines")
    text = ""
    for wanted in _PREFERENCE:
        part = _body(message, wanted)
        text = _part_text(part) if part is not None else ""
        if text.strip():
            break
    return Extracted(text, title=_header(message, "subject"), date=_date(message))


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
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    text = decode_as(payload, part.get_content_charset() or "utf-8")
    if part.get_content_subtype() == "html":
        return page_text(text)[1]
    return text.replace("\r\n", "\n")


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = str(message[name] or "")
    except Exception:  # the header parser of the standard library raises many things on malformed lines
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == name), "")
    return " ".join(value.split())


def _date(message: EmailMessage) -> str:
    value = _header(message, "date")
    try:
        moment: datetime = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return value
    return moment.isoformat()
