"""Pages of figures are written by commands: they say what was recorded, and nothing else."""

from benchmarks import report
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


def test_a_section_that_was_not_run_again_stays_as_it_was_recorded():
    before = (REPOSITORY / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    assert report.rendered({}, before).partition("\n## ")[2] == before.partition("\n## ")[2]
    ran = {"events": {"intro": "Ten draws.", "parts": [], "bars": [], "rows": {"x": {"versions": {"numpy": "9"}}}}}
    after = report.rendered(ran, before)
    assert "## events\n\nTen draws.\n\n## abstracts\n" in after
    assert before[before.index("## abstracts") :] == after[after.index("## abstracts") :]
    assert "numpy 9, scikit-learn 1." in after


def test_the_page_of_the_peers_says_what_was_found():
    found = peers.results()
    written = (REPOSITORY / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert written == peers.rendered(found), "python -m benchmarks.comparison --page"
    assert set(found) <= {*EVERY, "whole"}
    for kind, systems in EVERY.items():
        for place in found.get(kind, {}).values():
            assert set(place["rows"]) <= set(systems)


def test_a_peer_that_could_not_run_is_said():
    row = {"not run": "ImportError: no module of this name"}
    found = {"topics": {"arxiv-demo": {"documents": 10, "rows": {"bertopic": row}}}}
    assert "| BERTopic, MiniLM |  |  |  |  |  |  |  | not run: ImportError" in peers.rendered(found)


def test_a_speed_that_was_not_measured_is_said_and_the_whole_run_is_told():
    row = {"seconds": 10.0, "megabytes": 300.0}
    place = {"documents": 20_000, "rows": {"ours": row, "bertopic": {"not run": "vectors alone would take an hour"}}}
    review = {"documents": 3_000, "rows": {"asreview": {"score": 0.1, "seconds": 2.0, "megabytes": 200.0}}}
    whole = {"processor": 1_200.0, "clock": 2_400.0, "kept": 600.0}
    text = peers.rendered({"speed": {"arxiv-2011": place}, "reviews": {"reuters21578": review}, "whole": whole})
    assert "| 20,000 | **Topiarist**, by default | 2,000 | 10.0 | 300 |" in text
    assert "| 20,000 | BERTopic, MiniLM | not run: vectors alone would take an hour |  |  |" in text
    assert "| ASReview, ELAS u4 | 10.0% | 2.0 | 200 |" in text
    assert "took 20 minutes of a processor and 10 for vectors that were at hand from before (40 by the clock" in (
        text.replace("\n", " ")
    )
