"""``topiarist verify``: what it prints and leaves with, and that a report has the same digest."""

from tests.collection.test_forged import forged
from topiarist.app.explorer.report import write_report
from topiarist.collection.collection import Collection


def test_the_bits_agree_and_the_report_has_the_digest(typed, path):
    told = typed("verify", "--json")
    assert told["agrees"] is True
    assert typed("verify", "--digest").stdout.split() == [told["digest"]]
    with Collection.open(path) as collection:
        write_report(collection, path.parent / "report.html", "none")
    assert told["digest"] in (path.parent / "report.html").read_text("utf-8")


def test_a_difference_that_nothing_explains_is_damage(typed, path):
    typed("shape", "rename", "1", "Honest")
    forged(path, "UPDATE edits SET body = replace(body, 'Honest', 'Forged')")
    said = typed("verify", code=4).stdout
    assert "does not agree" in said
    assert "has changed the folder" in said
