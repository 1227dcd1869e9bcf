"""Changes as files of their own, and the changelog that they are gathered into."""

import pytest

from tools import changes


def test_changes_go_before_what_stands_under_the_newest_heading():
    before = "# Changelog\n\n## Unreleased\n\n- Old.\n\n## 0.1\n\n- Older.\n"
    after = changes.gathered(before, ["- One.\n  More.\n", "- Two."])
    assert after == "# Changelog\n\n## Unreleased\n\n- One.\n  More.\n- Two.\n- Old.\n\n## 0.1\n\n- Older.\n"
    assert changes.gathered(before, []) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# All\n\n## New\n- Old.\n\n## 0.1\n\n- Older.\n", "# All\n\n## New\n\n- §\n- Old.\n\n## 0.1\n\n- Older.\n"),
        ("# All\n\n## New\n\n## 0.1\n\n- Older.\n", "# All\n\n## New\n\n- §\n\n## 0.1\n\n- Older.\n"),
        ("# All\n\n## New\n\nA text.\n", "# All\n\n## New\n\n- §\n\nA text.\n"),
        ("# All\n\n## New\n", "# All\n\n## New\n\n- §\n"),
        ("## New", "## New\n\n- §\n"),
        ("# All\n\n- Old.\n", "# All\n\n- Old.\n"),
    ],
)
def test_changes_are_found_under_the_newest_heading_whatever_follows_it(before, after):
    assert changes.gathered(before, ["- §"]) == after


def folder_of(place, changelog):
    (place / "changes").mkdir()
    (place / "changes" / "README.md").write_text("# Changes\n")
    (place / "changes" / "one.md").write_text("- One.\n")
    (place / "CHANGELOG.md").write_text(changelog)
    return place


def test_what_was_gathered_is_taken_away(tmp_path):
    root = folder_of(tmp_path, "# All\n\n## New\n- Old.\n")
    assert changes.main(["--check"], root) == 0
    assert changes.fragments(root / "changes") != []
    assert changes.main([], root) == 0
    assert (root / "CHANGELOG.md").read_text() == "# All\n\n## New\n\n- One.\n- Old.\n"
    assert [path.name for path in (root / "changes").iterdir()] == ["README.md"]
    assert changes.main([], root) == 0  # nothing waits


def test_what_could_not_be_gathered_stays(tmp_path, capsys):
    root = folder_of(tmp_path, "# All\n\n- Old.\n")
    assert changes.main([], root) == 1
    assert "nothing was gathered" in capsys.readouterr().out
    assert (root / "changes" / "one.md").read_text() == "- One.\n"
    assert (root / "CHANGELOG.md").read_text() == "# All\n\n- Old.\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [("- A line.\n  Its end.\n", ""), ("", "begin"), ("A line.\n", "begin"), ("- One.\nTwo.\n", "two spaces")],
)
def test_a_change_is_a_list(text, said):
    found = changes.problem(text)
    assert said in found
    assert bool(found) == bool(said)


def test_changes_that_wait_are_as_they_should_be():
    waiting = [path.read_text("utf-8") for path in changes.fragments()]
    assert [changes.problem(text) for text in waiting] == [""] * len(waiting)
    assert changes.gathered(changes.CHANGELOG.read_text("utf-8"), ["- §§"]).split("\n## ")[1].count("§§") == 1
