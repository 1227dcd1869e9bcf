"""What a grow says on the way: on a terminal, without one, and how long it says the rest will take."""

import io

import pytest
from rich.console import Console

from topiarist.cli import source_stream
from topiarist.cli.source_stream import SourceOptions, Stream
from topiarist.cli.terminal import grow_progress as progress
from topiarist.cli.terminal.grow_progress import Lines, Phase, Screen, line
from topiarist.cli.terminal.stop_signal import Stop
from topiarist.display.remaining_time import RemainingTime, growth_share
from topiarist.trees.growth.loop import Record


def test_time_left_is_told_when_a_tenth_is_done():
    remaining = RemainingTime()
    remaining.update(1.0, 0.05)
    assert remaining.left(1.0) is None
    remaining.update(2.0, 0.1)
    assert remaining.left(2.0) == pytest.approx(18.0)
    assert remaining.left(5.0) == pytest.approx(15.0)  # it goes down with the clock


def test_time_left_never_jumps_up_by_more_than_half():
    remaining = RemainingTime()
    remaining.update(10.0, 0.5)
    assert remaining.left(10.0) == pytest.approx(10.0)
    remaining.update(25.0, 0.5)  # slower than it looked
    assert remaining.left(25.0) == pytest.approx(7.5)
    for step in range(1, 20):
        now = 25.0 + step
        before = remaining.left(now)
        remaining.update(now, 0.5)
        assert remaining.left(now) <= 1.5 * before + 1e-9
    assert remaining.left(44.0) > 40.0  # but it gets there
    remaining.update(60.0, 0.2)
    assert remaining.share == 0.5  # what is done stays done


def test_what_was_wrong_by_far_is_told_no_longer():
    remaining = RemainingTime()
    remaining.update(90.0, 0.9)
    assert remaining.left(90.0) == pytest.approx(10.0)
    assert remaining.left(109.0) == pytest.approx(5.0)
    assert remaining.left(111.0) is None
    remaining.update(120.0, 0.9)
    assert remaining.left(120.0) == pytest.approx(120 / 9)


@pytest.mark.parametrize("goal", [None, 24, 5000])
def test_the_share_of_growing_rises(goal):
    leaves = list(range(1, 25))
    criterion = [3000.0 / (1 + 0.3 * step**0.5) for step in range(24)]
    shares = [growth_share(leaves[:n], criterion[:n], goal) for n in range(1, 25)]
    assert all(0 <= share < 1 for share in shares)
    assert shares[-1] > shares[0]
    if goal:
        assert shares == sorted(shares)


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("name", ["Reading ./mail", "Growing the tree", "Describing the topics"])
def test_a_line_fits_the_terminal(width, name):
    phase = Phase(name, detail="14 of 24 topics   held-out perplexity 1,842 ↓")
    phase.remaining.update(10.0, 0.3)
    for done in (False, True):
        text = line(phase, width, done=done).plain
        assert len(text) <= max(width, 60)
        assert name.startswith("Reading") or f"{name} " in text
        assert "0:00" in text
    if width >= 100:
        assert "held-out perplexity 1,842 ↓" in line(phase, width).plain
        assert "left" in line(phase, width).plain


def test_progress_names_slow_file(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress, "_now", lambda: now[0])
    file = io.StringIO()
    screen = Screen(Console(file=io.StringIO(), width=100), Stop(), None, "./mail")
    with Lines(Console(file=file, width=100), Stop(), None, "./mail") as shown, screen:
        for reporter in (shown, screen):
            reporter.begin_phase("Reading")
            reporter.find_slow_file = lambda: ("./mail/big.pdf", 65.0)
        assert "./mail/big.pdf: 1:05" in screen._line().plain
        now[0] += 31
        shown.remind()
        assert "  no documents yet   ./mail/big.pdf: 1:05   0:31" in file.getvalue()
        screen.begin_phase("Growing the tree")
        assert "big.pdf" not in screen._line().plain


def test_stream_finds_slow_file(monkeypatch, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("words")
    stream = Stream(SourceOptions(sources=[str(tmp_path)]))
    documents = iter(stream)
    next(documents)
    assert stream.find_slow_file() is None
    monkeypatch.setattr(source_stream, "SLOW_SECONDS", 0.0)
    assert stream.find_slow_file()[0].endswith("a.txt")
    assert len([*documents]) == 1
    assert stream.find_slow_file() is None
    stream = Stream(SourceOptions(sources=[str(tmp_path / "a.txt")]))
    next(iter(stream))
    assert stream.find_slow_file() is None


def test_lines_where_there_is_no_terminal(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress, "_now", lambda: now[0])
    file = io.StringIO()
    with Lines(Console(file=file), Stop(), None, "./mail") as shown:
        shown.begin_phase("Reading")
        shown.show_read(12_400)
        now[0] += progress.LINE_INTERVAL - 1.0
        shown.remind()  # not yet
        now[0] += 2.3
        shown.remind()
        shown.add_note("12,400 read")
        shown.begin_phase("Growing the tree")
        shown.show_growth(Record((1, 2), (2000.0, 1900.0), (2000.0, 1900.0)))
    said = file.getvalue().splitlines()
    assert said[0] == "Reading ./mail …"
    assert said[1] == "  12,400 documents   0:31"
    assert "  12,400 read" in said
    assert said[-1].startswith("  2 topics   held-out perplexity 1,900 ↓   0:0")
    assert shown.seconds["reading"] == pytest.approx(31.3)


def test_a_terminal_shows_phases_one_below_the_other():
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100, color_system=None)
    with Screen(console, Stop(), 8, "[red]mail") as shown:
        shown.begin_phase("Reading")
        shown.show_read(100)
        shown.add_note("100 read")
        shown.begin_phase("Growing the tree")
        shown.show_growth(Record((1, 2), (1900.0, 2000.0), (1900.0, 2000.0)))
        shown.print_message("Stopping after this step")
    text = file.getvalue()
    assert "Reading [red]mail" in text
    assert "2 of 8 topics   held-out perplexity 2,000" in text
    assert "Stopping after this step" in text


def test_ctrl_c_is_heard_between_two_steps():
    stop = Stop(is_requested=True)
    shown = progress.Progress(stop)
    shown.begin_phase("Growing the tree")
    assert stop.phase == "grow"
    with pytest.raises(KeyboardInterrupt):
        shown.show_growth(Record((1, 2), (2.0, 1.0), (2.0, 1.0)))
