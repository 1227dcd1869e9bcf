"""Tables that are brought on the page *New* are read as those that the collection was grown from."""

import html
import re

import pytest

from tests.tables import COLUMNS, N_JULY, N_JUNE, table, tickets, tickets_once, without_labels  # noqa: F401
from tests.web.clients import HERE, Writer
from topiarist.web.http.server import explorer


@pytest.fixture
def client(tickets):  # noqa: F811
    return Writer(explorer(str(tickets)), base_url=HERE)


def brought(client, text, **form):
    return client.put_form("/new", files=[("files", ("july.csv", text.encode(), "text/csv"))], **form)


def key_of(page):
    return re.search(r'name="key" value="([^"]+)"', page.text)[1]


def added(client):
    return list(client.view.collection.documents.iterate(N_JUNE))


def test_brought_table_keeps_ids_titles_dates_and_labels(client):
    page = brought(client, table(7))
    assert f"{N_JULY} documents to file" in page.text
    assert "comes first" not in page.text  # the order of day and month is that of the collection
    assert client.put_form("/keep", key=key_of(page)).status_code == 200
    assert [(one.id, one.title, one.date, one.labels) for one in added(client)][:2] == [
        ("T-7-0", "Ticket 0 of 7", "2025-07-01", ("red",)),
        ("T-7-1", "Ticket 1 of 7", "2025-07-02", ("blue",)),
    ]
    found = client.get("/search.json", params={"q": "label:red date:2025-07"}).json()
    assert found["total"] == 2


def test_missing_column_is_named_and_overridden_in_the_form(client):
    text = table(7, ("nr", "name", *COLUMNS[2:]))
    page = brought(client, text)
    assert page.status_code == 400
    said = html.unescape(page.text)
    assert "july.csv: no column headline in july.csv, though it holds the title in the collection" in said
    assert "it has: nr, name, what, opened, team. Enter its columns under “Columns of tables”." in said
    assert 'name="id_column"' in page.text
    assert 'placeholder="ticket"' in page.text
    assert "No text found" not in page.text
    page = brought(client, text, id_column="nr", title_column="name")
    assert 'value="nr"' in page.text
    client.put_form("/keep", key=key_of(page), dates="month-first")
    first = added(client)[0]
    assert (first.id, first.title, first.date) == ("T-7-0", "Ticket 0 of 7", "2025-01-07")


def test_table_without_labels_is_brought_with_none(client):
    rows = without_labels(table(7))
    page = brought(client, rows)
    assert page.status_code == 400
    assert "no column team in july.csv" in html.unescape(page.text)
    assert "Except for the text, “none” means no column." in page.text
    page = brought(client, rows, label_column="none")
    assert f"{N_JULY} documents to file" in page.text
    client.put_form("/keep", key=key_of(page))
    assert [one.labels for one in added(client)] == [()] * N_JULY
