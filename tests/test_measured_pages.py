"""Pages of figures are written by commands: they say what was recorded, and nothing else."""

from benchmarks.comparison import page as peers
from benchmarks.comparison.systems import EVERY
from benchmarks.paths import REPOSITORY
from benchmarks.reproduce import page as papers
from benchmarks.reproduce import plots, recorded


def test_the_page_of_the_papers_says_what_was_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(recorded, "RESULTS", tmp_path)
    assert (REPOSITORY / "docs" / "reproduction.md").read_text(encoding="utf-8") == papers.rendered(), (
        "python -m benchmarks.reproduce.page"
    )
    assert all((plots.IMAGES / f"reproduction-{name}.svg").stat().st_size < 60_000 for name in plots.DRAWN)


def test_a_run_made_here_comes_before_what_was_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(recorded, "RESULTS", tmp_path)
    before = recorded.tables("events")
    assert recorded.numbers(before[0].row("PLSA, annealed")[1]) == [0.158, 0.028]
    (tmp_path / "events.json").write_text(
        '{"intro": "", "parts": ["| model | G_l |\\n| --- | --- |\\n| PLSA | 0.5 ± 0.1 |"], "bars": []}'
    )
    assert recorded.tables("events")[0].rows == (("PLSA", "0.5 ± 0.1"),)


def test_the_page_of_the_peers_says_what_was_found():
    found = peers.results()
    written = (REPOSITORY / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert written == peers.rendered(found), "python -m benchmarks.comparison --page"
    for kind, places in found.items():
        for place in places.values():
            assert set(place["rows"]) <= set(EVERY[kind])


def test_a_peer_that_could_not_run_is_said():
    row = {"not run": "ImportError: no module of this name"}
    found = {"topics": {"arxiv-demo": {"documents": 10, "rows": {"bertopic": row}}}}
    assert "| BERTopic, MiniLM |  |  |  |  |  |  |  | not run: ImportError" in peers.rendered(found)
