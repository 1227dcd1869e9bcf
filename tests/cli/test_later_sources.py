"""Later sources of a collection are read as it was grown: columns, dates and elements, unless an option overrides."""

import json

import pytest
from typer.testing import CliRunner

from tests.tables import COLUMNS, N_JULY, N_JUNE, table, tickets, tickets_once, without_labels  # noqa: F401
from topiarist import Collection
from topiarist.cli.commands import app
from topiarist.errors import UsageError


@pytest.fixture
def run(tickets, monkeypatch):  # noqa: F811
    """``run("file", "july.csv")``: a command with the collection of tickets, beside the table of July."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tickets.parent)
    (tickets.parent / "july.csv").write_text(table(7))

    def typed(command, *arguments, code=0, stdin=None):
        done = CliRunner().invoke(app, [command, "tickets.topiary", *map(str, arguments)], input=stdin)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if "--json" in arguments else done

    return typed


def hits(run, *query):
    return {one["id"] for one in run("find", *query, "-n", 100, "--json")["hits"]}


def test_added_table_keeps_ids_titles_dates_and_labels(run):
    filed = run("file", "july.csv")
    assert (
        "Text from column what; title from headline, id from ticket, label from team, date from opened" in filed.stderr
    )
    added = run("file", "july.csv", "--add", "--json")
    assert [(one["id"], one["title"]) for one in added["filed"]][:2] == [
        ("T-7-0", "Ticket 0 of 7"), ("T-7-1", "Ticket 1 of 7"),
    ]  # fmt: skip
    assert hits(run, "label:red date:2025-07") == {"T-7-0", "T-7-3"}
    assert hits(run, "label:red date:2025-07-01") == {"T-7-0"}
    with Collection.open("tickets.topiary") as collection:
        assert [one.name for one in collection.fields] == []  # every column has a role


@pytest.mark.parametrize("add", [[], ["--add"]])
def test_missing_column_of_growth_stops(run, tickets, add):  # noqa: F811
    (tickets.parent / "july.csv").write_text(table(7, ("ticket_no", *COLUMNS[1:])))
    error = run("file", "july.csv", *add, code=2).stderr
    assert "no column ticket in july.csv, though it holds the id in the collection" in error
    assert "it has: ticket_no, headline, what, opened, team" in error
    assert "Try: Use --id-column ticket_no, or --id-column none for no ids." in error
    with Collection.open("tickets.topiary") as collection:
        assert len(collection) == N_JUNE


def test_table_without_labels_is_filed_with_none(run, tickets):  # noqa: F811
    rows = without_labels(table(7))
    (tickets.parent / "july.csv").write_text(rows)
    assert "--label-column none for no labels" in run("file", "july.csv", "--add", code=2).stderr
    assert "No column for the label" not in run("file", "july.csv", "--add", "--label-column", "none").stderr
    with Collection.open("tickets.topiary") as collection:
        assert [one.labels for one in collection.documents.iterate(N_JUNE)] == [()] * N_JULY


def test_options_override_what_the_collection_was_grown_with(run, tickets):  # noqa: F811
    (tickets.parent / "july.csv").write_text(table(7, ("nr", "name", *COLUMNS[2:])))
    options = ("--id-column", "nr", "--title-column", "name", "--dates", "month-first")
    said = run("file", "july.csv", *options).stderr
    assert "july.csv --title-column name --id-column nr --dates month-first --add" in said
    run("file", "july.csv", *options, "--add")
    assert hits(run, "label:red date:2025-01-07") == {"T-7-0"}


def test_standard_input_is_read_as_the_collection(run):
    line = json.dumps(
        {"ticket": "T-9", "headline": "Late", "what": "magnetic field", "opened": "03/04/2025", "team": "red"}
    )
    run("file", "-", "--add", stdin=line)
    assert hits(run, "label:red date:2025-04-03") == {"T-9"}
    assert "no column headline in standard input" in run("file", "-", "--add", code=2, stdin='{"what": "field"}').stderr


def test_similar_reads_a_file_as_the_collection(run, tickets):  # noqa: F811
    (tickets.parent / "one.csv").write_text(table(6).splitlines()[0] + "\n" + table(6).splitlines()[8])
    assert run("similar", "one.csv", "--json")["hits"][0]["id"] == "T-6-7"
    (tickets.parent / "one.csv").write_text("nr,what\n1,field\n")
    assert "Try: Use --title-column" in run("similar", "one.csv", code=2).stderr
    run("similar", "one.csv", "--id-column", "nr", "--title-column", "", "--date-column", "", "--label-column", "")


def test_data_frames_are_read_as_the_collection(tickets):  # noqa: F811
    pandas = pytest.importorskip("pandas")
    rows = [
        line.split("\t") for line in ("T-8-1\tOne\tmagnetic field\t01/08/2025\tred", "T-8-2\tTwo\tspin\t02/08/2025\t")
    ]
    frame = pandas.DataFrame(rows, columns=COLUMNS)
    with Collection.open(tickets) as collection:
        assert [(one.document.id, one.document.title) for one in collection.file(frame)] == [
            ("T-8-1", "One"),
            ("T-8-2", "Two"),
        ]
        with pytest.raises(UsageError, match="no column ticket in the data frame"):
            collection.add(frame.rename(columns={"ticket": "nr"}))
        assert len(collection) == N_JUNE
        collection.add(frame.rename(columns={"ticket": "nr"}), columns={"id": "nr"})
        added = collection.documents.get(N_JUNE)
        assert (added.id, added.title, added.date, added.labels) == ("T-8-1", "One", "2025-08-01", ("red",))
        (tickets.parent / "july.csv").write_text(table(7))
        assert len(collection.add(tickets.parent / "july.csv")) == N_JULY


def test_columns_chosen_by_growth_are_preferred_and_their_lack_is_printed(run, tickets, monkeypatch):  # noqa: F811
    from topiarist.collection.grow.read_as_grown import READ_WITH
    from topiarist.storage import facts

    with Collection.open(tickets) as collection, collection.folder.writing() as generation:
        plain = {"columns": {"label_separator": ";"}, "xml_path": "", "ocr": None}  # nothing was named
        facts.change_settings(generation.database, {READ_WITH: plain})
    (tickets.parent / "july.csv").write_text(table(7, ("nr", "text", *COLUMNS[2:])))
    filed = run("file", "july.csv", "--json")
    said = run("file", "july.csv").stderr
    assert "Text from column what; label from team, date from opened" in said  # not by its usual name
    assert "No column for the id: in the collection it is ticket (--id-column NAME)" in said
    assert filed["documents"] == N_JULY
