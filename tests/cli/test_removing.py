"""``topiarist remove``: what is said, what is asked, and what is left."""

from tests.grown import N_DOCS, documents


def test_a_preview_changes_nothing_and_undo_brings_back(typed):
    one = documents()[3]
    told = typed("remove", one.id, "--dry-run", "--json")
    assert (told["documents"], told["left"], told["ids"]) == (1, N_DOCS - 1, [one.id])
    assert [row["documents"] for row in told["topics"]] == [1]
    assert typed("tree", "--json")["documents"] == N_DOCS
    done = typed("remove", one.id)
    assert one.title[:30] in done.stdout
    assert "1 document removed" in done.stdout
    assert "--undo" in done.stderr
    assert typed("tree", "--json")["documents"] == N_DOCS - 1
    typed("show", one.id, code=2)
    assert "Undone: 1 document removed" in typed("shape", "--undo").stdout
    assert typed("tree", "--json")["documents"] == N_DOCS


def test_forgetting_asks_first_and_says_what_it_looked_for(typed):
    one = documents()[3]
    assert "needs confirmation" in typed("remove", one.id, "--forget", code=2).stderr
    told = typed("remove", one.id, "--forget", "--yes", "--json")
    assert (told["forgotten"], told["traces"]) == (1, {})
    assert told["bytes"] > 100_000
    assert "cannot be undone" in typed("shape", "--undo", code=2).stderr
    typed("check")


def test_ids_or_a_query_and_not_both(typed):
    assert "either ids or a query" in typed("remove", code=2).stderr
    assert "either ids or a query" in typed("remove", "x", "--query", "y", code=2).stderr
    assert "no document matches" in typed("remove", "--query", "xyzzyplugh", code=2).stderr


def test_removed_document_is_forgotten_by_its_id(typed):
    one = documents()[3]
    typed("remove", one.id)
    again = typed("remove", one.id, code=2).stderr
    assert "was removed before" in again
    assert "--forget" in again
    previewed = typed("remove", one.id, "--forget", "--dry-run")
    assert "1 removed document would be forgotten" in previewed.stdout
    assert one.title[:30] in previewed.stdout
    report = typed("remove", one.id, "--forget", "--yes", "--json")
    assert (report["forgotten"], report["removed_before"], report["traces"], report["places"]) == (1, 1, {}, [])
    assert report["said"] == "1 removed document"
    assert "1 removed document forgotten for good" in typed("shape", "--log").stdout
    assert "there is no document" in typed("remove", "never/was", "--forget", "--yes", code=2).stderr
    typed("check")
