"""A file's own date is used for want of a better one: of the text, its header, its file name, or its message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.text.readers.makers import docx, paragraph, pdf
from topiarist.text.dates import find_date_in_name
from topiarist.text.readers import read


def dated(path: Path) -> dict[str, tuple[str, bool]]:
    return {one.id.removeprefix(f"{path.name}/"): (one.date[:10], one.has_file_date) for one in read(path)}


def test_creation_date_marked_as_file_date(tmp_path: Path) -> None:
    pdf(tmp_path / "report.pdf", "Some words of a report")
    docx(tmp_path / "minutes.docx", paragraph("Some words of the minutes"))
    assert dated(tmp_path) == {"minutes.docx": ("2020-01-02", True), "report.pdf": ("2020-01-02", True)}


def test_date_in_file_name_precedes_creation_date(tmp_path: Path) -> None:
    pdf(tmp_path / "2014-03-05 report.pdf", "Some words of a report")
    (tmp_path / "letter_20140306.txt").write_text("Some words of a letter")
    (tmp_path / "rows_2014-03-07.csv").write_text("id,text\n1,Some words of a row of a table\n")
    assert dated(tmp_path) == {
        "2014-03-05 report.pdf": ("2014-03-05", False),
        "letter_20140306.txt": ("2014-03-06", False),
        "1": ("", False),  # the day of an export is not the day of its rows
    }


def test_attachment_has_date_of_its_message(tmp_path: Path) -> None:
    import io
    import zipfile
    from email.message import EmailMessage

    made = pdf(tmp_path / "made.pdf", "Some words of a report").read_bytes()
    (tmp_path / "made.pdf").unlink()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner.pdf", made)
        archive.writestr("2001-01-01.txt", "Some words of a note")
    message = EmailMessage()
    message["Subject"], message["Date"] = "two files", "Wed, 05 Mar 2014 10:00:00 +0000"
    message.set_content("Please find attached what we spoke of.")
    message.add_attachment(made, maintype="application", subtype="pdf", filename="report.pdf")
    message.add_attachment(packed.getvalue(), maintype="application", subtype="zip", filename="all.zip")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    found = dated(tmp_path)
    assert len(found) == 4
    assert set(found.values()) == {("2014-03-05", False)}


def test_attachment_inherits_date_of_file_name(tmp_path: Path) -> None:
    import mailbox
    from email.message import EmailMessage

    message = EmailMessage()
    message.set_content("Please find attached what we spoke of.")
    for name in ("plain.txt", "minutes 2012-11-12.txt"):
        message.add_attachment("Some words of an attachment", filename=name)
    (tmp_path / "2014-03-05 letter.eml").write_bytes(message.as_bytes())
    (tmp_path / "undated.eml").write_bytes(message.as_bytes())
    box = mailbox.mbox(tmp_path / "2015-01-01.mbox")
    box.add(message)
    box.close()
    assert dated(tmp_path) == {
        "2014-03-05 letter.eml": ("2014-03-05", False),
        "2014-03-05 letter.eml#plain.txt": ("2014-03-05", False),
        "2014-03-05 letter.eml#minutes 2012-11-12.txt": ("2014-03-05", False),
        "undated.eml": ("", False),
        "undated.eml#plain.txt": ("", False),
        "undated.eml#minutes 2012-11-12.txt": ("2012-11-12", False),
        "2015-01-01.mbox:1": ("", False),  # the day of a mailbox is not the day of its messages
        "2015-01-01.mbox:1#plain.txt": ("", False),
        "2015-01-01.mbox:1#minutes 2012-11-12.txt": ("2012-11-12", False),
    }


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2014-03-05.txt", "2014-03-05"),
        ("IMG_20140305_1200.pdf", "2014-03-05"),
        ("Brief vom 5.3.2014.pdf", "2014-03-05"),
        ("2014_03_05 and 2014-03-05.txt", "2014-03-05"),
        ("2014-03-05 to 2014-03-06.txt", ""),
        ("2014-13-05.txt", ""),
        ("2014-03.txt", ""),
        ("120140305.txt", ""),
        ("report 2014.pdf", ""),
    ],
)
def test_find_date_in_name_of_files(name: str, day: str) -> None:
    assert find_date_in_name(name) == day
