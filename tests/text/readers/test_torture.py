"""The torture folder, row by row: nothing is lost, nothing is made up, and what is left out is said."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.text.readers.torture import LIMITS, ROWS, Row, build
from topiarist.text.documents import Document
from topiarist.text.parsers.pool import worker_command
from topiarist.text.readers import Counts, read

READ = """
import json, socket, sys
from tests.text.readers.torture import LIMITS
from topiarist.text.readers import read

error = ""
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError as refusal:
    error = str(refusal)
print(json.dumps([error, [document.text for document in read(sys.argv[1], limits=LIMITS)]]))
"""
Story = dict[str, tuple[list[Document], list[str]]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Story, Counts]:
    """What came out of each file: documents, and what was said."""
    folder = build(tmp_path_factory.mktemp("made") / "t")
    story: Story = defaultdict(lambda: ([], []))
    with read(folder, limits=LIMITS) as reading:
        for document in reading:
            story[_file(document.source, folder)][0].append(document)
    for problem in reading.problems:
        story[_file(problem.source, folder)][1].append(problem.reason)
    return dict(story), reading.counts


def _file(source: str, folder: Path) -> str:
    inside = Path(source).relative_to(folder).as_posix()
    names = [*(row.name for row in ROWS), "Maildir"]
    return max((name for name in names if inside.startswith(name)), key=len)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_documents_of_difficult_files(row: Row, told: tuple[Story, Counts]) -> None:
    documents, said = told[0].get(row.name, ([], []))
    ids = [document.id for document in documents]
    assert ids == [id[1:] if id.startswith("=") else f"t/{row.name}{id}" for id, _ in row.documents], said
    for document, (_, words) in zip(documents, row.documents, strict=True):
        assert words in document.text
    if row.more:
        assert said
        return
    assert len(said) == len(row.said), said
    for reason, piece in zip(said, row.said, strict=True):
        assert piece in reason
        assert "Traceback" not in reason
        assert "Error" not in reason


def test_maildir_messages_read(told: tuple[Story, Counts]) -> None:
    ids = [document.id for document in told[0]["Maildir"][0]]
    messages = ["t/Maildir/.Sent/cur/6.M7.host", "t/Maildir/cur/1.M2.host", "t/Maildir/new/3.M4.host"]
    assert ids == [f"{message}{part}" for message in messages for part in ("", "#a.txt")]


def test_attachments_name_parent_message(told: tuple[Story, Counts]) -> None:
    parents = {document.id: _parent(document) for document in told[0]["note.eml"][0]}
    assert parents == {"t/note.eml": "", "t/note.eml#a.txt": "t/note.eml", "t/note.eml#b.pdf": "t/note.eml"}
    far = told[0]["mail.zip"][0][-1]
    assert _parent(far) == "t/mail.zip/m.eml"
    (_, boxed) = told[0]["box.mbox"][0]
    assert _parent(boxed) == "t/box.mbox:1"


def _parent(document: Document) -> str:
    return dict(document.columns).get("parent", "")


def test_spreadsheet_sheets_named(told: tuple[Story, Counts]) -> None:
    assert [dict(document.columns)["sheet"] for document in told[0]["two.xlsx"][0]] == ["Answers", "Answers"]


def test_titles_and_dates_of_formats(told: tuple[Story, Counts]) -> None:
    facts = {name: (found[0].title, found[0].date) for name, (found, _) in told[0].items() if found}
    wanted = {
        "letter.odt": ("Open title", "2021-02-03T04:05:06"),
        "slides.pptx": ("B", ""),
        "letter.rtf": ("Rich", ""),
        "novel.epub": ("Novel", "1922-02-02"),
        "paper.tex": ("On trees", ""),
        "outlook.msg": ("Hello", "2020-01-02T03:04:05+00:00"),
        "feed.xml": ("F", ""),
    }
    assert {name: facts[name] for name in wanted} == wanted


def test_counts_cover_all_files(told: tuple[Story, Counts]) -> None:
    story, counts = told
    assert set(story) == {row.name for row in ROWS} | {"Maildir"}
    assert counts.files == len(ROWS) + 3
    assert counts.read == sum(len(found) for found, _ in story.values())


def test_no_reader_has_network(told: tuple[Story, Counts], tmp_path: Path) -> None:
    """A file of every format is read without a network: within a namespace of its own if the system permits one."""
    with pytest.raises(AssertionError, match="network"):
        socket.create_connection(("192.0.2.1", 80))
    names = [row.name for row in ROWS]
    rows = ROWS[: names.index("cut.pdf")]
    for row in rows:
        (tmp_path / row.name).write_bytes(row.data())
    namespace = ["unshare", "-rn"] if _can_cut_network() else []
    command = [*namespace, worker_command()[0], "-P", "-c", READ, str(tmp_path)]
    path = os.pathsep.join([os.environ["PYTHONPATH"], *filter(None, sys.path)])
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    error, texts = json.loads(done.stdout)
    assert error == "the network is cut"
    assert sorted(texts) == sorted(document.text for row in rows for document in told[0][row.name][0])


def _can_cut_network() -> bool:
    tool = shutil.which("unshare")
    return tool is not None and not subprocess.run([tool, "-rn", "true"], capture_output=True, check=False).returncode
