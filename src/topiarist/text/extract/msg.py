"""One message of Outlook (.msg): its subject, its date, its text and what came with it, by python-oxmsg."""

from __future__ import annotations

import io

from topiarist.text.extract.decoding import decode
from topiarist.text.extract.html import page_source, page_text
from topiarist.text.extract.limits import Attached, Extracted, ExtractError, Limits, Source, first_bytes
from topiarist.text.extract.mail import MOST_ATTACHED

_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")


def extract(source: Source, limits: Limits) -> Extracted:
    """The plain text of a message, else the text of its HTML; the subject becomes the title."""
    from oxmsg import Message

    if first_bytes(source, len(_OLE_MAGIC)) != _OLE_MAGIC:
        raise ExtractError("not an Outlook message")
    with io.BytesIO(source.getvalue()) if isinstance(source, io.BytesIO) else open(source, "rb") as stream:
        try:
            message = Message.load(stream)
            text, sent = _text(message.body, message.html_body), message.sent_date
            title = message.subject or ""
            attached, left = _attached(message.attachments, limits)
        except (OSError, KeyError, ValueError, AssertionError, UnicodeError) as error:
            raise ExtractError("not an Outlook message, or a damaged one") from error
    note = f"{left} attachments could not be taken out" if left else ""
    if not text.strip() and not note:
        note = "no plain text and no HTML in this message (Rich Text only?)"
    return Extracted(text, title=title, date=sent.isoformat() if sent else "", note=note, attached=tuple(attached))


def _text(plain: str | None, html: str | bytes | None) -> str:
    if plain and plain.strip():
        return plain.replace("\r\n", "\n")
    if isinstance(html, bytes):
        html = page_source(html) if html.lstrip()[:1] == b"<" else decode(html)
    return page_text(html)[1] if html else ""


def _attached(found: object, limits: Limits) -> tuple[list[Attached], int]:
    """The files that came with it, as far as there is room, and how many were left."""
    attached: list[Attached] = []
    size = left = 0
    for one in found if isinstance(found, tuple | list) else ():
        data = one.file_bytes if len(attached) < MOST_ATTACHED else None
        if data is None or size + len(data) > limits.raw_bytes:
            left += 1
            continue
        size += len(data)
        attached.append(Attached(one.file_name or "attachment", data))
    return attached, left
