"""A leak is read as it came: mails with attachments, Word files of odd programs, letters of one form, scans."""

import json
from email.message import EmailMessage

import pytest
from typer.testing import CliRunner

from tests.grown import documents
from tests.text.readers.makers import pdf
from tests.text.readers.office_makers import zipped
from tests.text.readers.word_makers import document, package, paragraph, run, undeclare_prefix
from topiarist.cli.commands import app

DEBTORS = ("Meier", "Schulz", "Kaya", "Novak", "Rossi", "Dupont")
LETTER = (
    "Dear Mr {name}, we write to you again about the invoice {number}. It is not paid yet. Please pay the sum to our "
    "account within two weeks, or we shall have to charge interest and the cost of a lawyer. Please call us if you have "
    "any question about the invoice, or if you have paid in the meantime. With kind regards, your bank"
)
N_MAILS = 40


@pytest.fixture(scope="module")
def leak(tmp_path_factory):
    place = tmp_path_factory.mktemp("leak")
    folder = place / "files"
    folder.mkdir()
    for number, one in enumerate(documents()[:N_MAILS]):
        mail = EmailMessage()
        mail["Subject"], mail["Date"] = one.title, f"Wed, {number % 9 + 1:02} Mar 2014 10:00:00 +0000"
        mail.set_content(one.text)
        if number < 3:
            mail.add_attachment(f"Minutes of the meeting about {one.title}", filename="minutes.txt")
        (folder / f"{number:02}.eml").write_bytes(mail.as_bytes())
    (folder / "again.eml").write_bytes((folder / "07.eml").read_bytes())
    for number, name in enumerate(DEBTORS):
        text = LETTER.format(name=name, number=100 + number)
        (folder / f"letter-{name}.docx").write_bytes(zipped(undeclare_prefix(package(document(paragraph(run(text)))))))
    pdf(folder / "scan.pdf", "Some words of a report that was scanned later")
    call("grow", folder, "-o", place / "leak.topiary", "--topics", 2, "--quiet")
    return place / "leak.topiary"


def call(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)], env={"NO_COLOR": "1", "TOPIARIST_NO_HEADINGS": "true"})
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
    return done


def find(leak, query):
    found = json.loads(call("find", leak, query, "--by", "words", "-n", 100, "--json").stdout)
    return {hit["id"].removeprefix("files/") for hit in found["hits"]}


def test_every_file_is_read_and_found(leak):
    assert find(leak, "Kaya") == {"letter-Kaya.docx"}
    assert find(leak, "invoice") == {f"letter-{name}.docx" for name in DEBTORS}
    assert find(leak, "scanned") == {"scan.pdf"}


def test_letters_of_one_form_aredocuments(leak):
    copies = json.loads(call("duplicates", leak, "--json").stdout)
    assert copies["copies"] == 1
    (group,) = copies["documents"]
    assert {group["id"], group["copies"][0]["id"]} == {"files/07.eml", "files/again.eml"}
    assert group["copies"][0]["exact"]


def test_attachments_have_mail_dates_and_files_their_own(leak):
    attached = {f"0{number}.eml#minutes.txt" for number in range(3)}
    assert attached <= find(leak, "minutes date:2014-03")
    assert "(file date)" in call("show", leak, "files/scan.pdf").stdout
    spread = json.loads(call("time", leak, "--json").stdout)
    assert spread["left_out"]["file_dated"] == len(DEBTORS) + 1
    assert find(leak, "minutes after:2014-03-01 before:2014-03-03") == {"01.eml#minutes.txt"}
    assert find(leak, "minutes since:2014-03-01 until:2014-03-03") == attached
