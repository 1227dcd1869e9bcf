"""A collection that was grown from a table with columns of unusual names, and the tables of later months."""

import csv
import io
import shutil

import pytest
from typer.testing import CliRunner

from tests.grown import documents
from topiarist.cli.commands import app

COLUMNS = ("ticket", "headline", "what", "opened", "team")
NAMED = ("--id-column", "ticket", "--title-column", "headline", "--text-column", "what", "--date-column", "opened",
         "--label-column", "team", "--dates", "day-first")  # fmt: skip
TEAMS = ("red", "blue", "green")
N_JUNE, N_JULY = 60, 6


def table(month, names=COLUMNS):
    """The rows of a month as CSV; all dates may have the day or the month first."""
    every = documents()
    some = every[:N_JUNE] if month == 6 else every[-N_JULY:]
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(names)
    for place, one in enumerate(some):
        title, opened = f"Ticket {place} of {month}", f"0{place % 9 + 1}/0{month}/2025"
        writer.writerow([f"T-{month}-{place}", title, one.text, opened, TEAMS[place % 3]])
    return file.getvalue()


def without_labels(rows):
    """A table without its last column."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows(row[:-1] for row in csv.reader(io.StringIO(rows, newline="")))
    return file.getvalue()


@pytest.fixture(scope="session")
def tickets_once(tmp_path_factory):
    """Not to be changed: ``tickets`` is a copy that may be."""
    folder = tmp_path_factory.mktemp("tickets")
    (folder / "june.csv").write_text(table(6))
    done = CliRunner().invoke(app, ["grow", str(folder / "june.csv"), "-o", str(folder / "tickets.topiary"), *NAMED,
                                    "--topics", "2", "--quiet"], env={"TOPIARIST_NO_HEADINGS": "true"})  # fmt: skip
    assert done.exit_code == 0, done.stderr
    return folder / "tickets.topiary"


@pytest.fixture
def tickets(tickets_once, tmp_path):
    copied = tmp_path / "tickets.topiary"
    shutil.copytree(tickets_once, copied)
    return copied
