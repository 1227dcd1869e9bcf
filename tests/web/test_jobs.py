"""A fit beside the pages: how far it is, how it is stopped, how it ends, and what pages show meanwhile."""

import threading

import pytest

from tests.web.clients import HERE, Writer, edit, leaf
from topiarist.display.formats import time_left
from topiarist.errors import ResourceError
from topiarist.estimators.common.progress import expected_steps
from topiarist.models.em import Rules
from topiarist.web import session as sessions
from topiarist.web.jobs import Job

PATIENCE = 60.0  # seconds after which a test has failed


class Held:
    """Holds a fit after each of its steps until somebody lets it go on."""

    def __init__(self, monkeypatch):
        self.reached, self.go, self.ended = threading.Semaphore(0), threading.Semaphore(0), threading.Event()
        step, end = Job.step, Job.end

        def held(job, done, about):
            job.iteration, job.about = done, about
            self.reached.release()
            assert self.go.acquire(timeout=PATIENCE)
            step(job, done, about)

        def over(job, error=""):
            end(job, error)
            self.ended.set()

        monkeypatch.setattr(Job, "step", held)
        monkeypatch.setattr(Job, "end", over)

    def steps(self, number):
        for place in range(number):
            assert self.reached.acquire(timeout=PATIENCE)
            if place + 1 < number:
                self.go.release()

    def over(self):
        for _ in range(1_000):
            self.go.release()
        assert self.ended.wait(PATIENCE)


@pytest.fixture
def held(monkeypatch):
    found = Held(monkeypatch)
    yield found
    found.over()


def strip(writer, path="/"):
    text = writer.get(path).text
    return text.split('class="strip', 1)[1].split('<div class="columns">')[0] if 'class="strip' in text else ""


def test_the_strip_says_how_far_a_fit_is(writer, held):
    topic = leaf(writer)
    edit(writer, "split", topic, into="2", refit="1")
    held.steps(2)
    job = writer.get("/job.json").json()
    assert (job["phase"], job["running"], job["iteration"], job["about"]) == ("running", True, 2, None)
    assert "Refitting, iteration 2." in strip(writer)
    held.go.release()
    held.steps(2)
    job = writer.get("/job.json").json()
    assert job["iteration"] == 4
    assert job["about"] >= 4
    assert f"Refitting, iteration 4 of about {job['about']}" in strip(writer)
    assert "Stop and keep the best tree" in strip(writer)
    assert "data-job" in strip(writer)
    assert writer.get(f"/topic/{topic}.json").json()["pending"]


def test_a_fit_that_is_stopped_keeps_the_best_so_far(writer, held, copied):
    topic = leaf(writer)
    edit(writer, "split", topic, into="2", refit="1")
    held.steps(2)
    assert writer.put_form("/stop", back="/model").url.path == "/model"
    assert "Stopping after this iteration" in strip(writer)
    assert "Stop and keep" not in strip(writer)
    held.over()
    job = writer.get("/job.json").json()
    assert (job["phase"], job["iteration"], job["error"]) == ("stopped", 2, "")
    page = writer.get(f"/topic/{topic}.json").json()
    assert not page["pending"]
    assert len(page["subtopics"]) == 2
    assert sum(one["documents"] for one in page["subtopics"]) == page["topic"]["documents"]
    assert writer.put_form("/undo").status_code == 200  # of the split and of the fit that it asked for
    page = writer.get(f"/topic/{topic}.json").json()
    assert not page["pending"]
    assert page["subtopics"] == []


def test_after_the_last_step_there_is_nothing_to_stop(writer, held, monkeypatch):
    reached, go, finishing = threading.Event(), threading.Event(), Job.finish_steps

    def last(job):
        finishing(job)
        reached.set()
        assert go.wait(PATIENCE)

    monkeypatch.setattr(Job, "finish_steps", last)
    edit(writer, "split", leaf(writer), into="2", refit="1")
    for _ in range(1_000):
        held.go.release()
    assert reached.wait(PATIENCE)
    assert "describing and saving topics" in strip(writer)
    assert "Stop and keep" not in strip(writer)
    assert writer.put_form("/stop").status_code == 200
    go.set()
    held.over()
    assert writer.get("/job.json").json()["phase"] == "done"


def test_that_a_fit_has_ended_is_said_once(writer, held):
    edit(writer, "split", leaf(writer), into="2", refit="1")
    held.over()
    assert "The new tree is ready. This page shows it." in strip(writer)
    assert strip(writer) == ""
    assert writer.get("/job.json").json()["phase"] == "done"


def test_a_fit_that_failed_says_why_and_offers_another(writer, held, monkeypatch):
    def refused(*values, **named):
        raise ResourceError("there is no room on the disk")

    edit(writer, "split", leaf(writer), into="2")
    assert "The tree has edits without a fit" in strip(writer)
    with monkeypatch.context() as patch:
        patch.setattr(sessions, "apply_edits", refused)
        writer.put_form("/refit")
        assert held.ended.wait(PATIENCE)
    for _ in range(2):
        assert "The fit failed: there is no room on the disk." in strip(writer)
        assert "Refit now" in strip(writer)
    assert writer.get("/job.json").json()["phase"] == "failed"
    writer.put_form("/undo")
    assert strip(writer) == ""  # there is nothing to be fitted any more
    edit(writer, "split", leaf(writer), into="2")
    held.ended.clear()
    writer.put_form("/refit")
    held.over()
    assert writer.get("/job.json").json()["phase"] == "done"


def test_the_strip_keeps_itself_up_to_date(page, changing, held):
    writer = Writer(changing.app, base_url=HERE)
    edit(writer, "split", leaf(writer), into="2", refit="1")
    held.steps(2)
    page.goto(f"{changing.address}/tree")
    page.wait_for_selector("text=Refitting, iteration 2")
    assert "Refitting, iteration 2" in page.locator("#said").inner_text()
    assert page.locator("[data-job]").get_attribute("role") is None
    held.go.release()
    held.steps(1)
    page.wait_for_selector(".job >> text=Refitting, iteration 3")
    assert "iteration 2" in page.locator("#said").inner_text()  # every second would be too much to hear
    page.click("text=Stop and keep the best tree")
    page.wait_for_selector("text=Stopping after this iteration")
    assert page.url == f"{changing.address}/tree"
    held.over()
    page.wait_for_selector(".job >> text=Stopped after 3 iterations. The best tree is ready.")
    assert "is ready" in page.locator("#said").inner_text()
    page.click(".strip >> text=Reload")
    page.wait_for_selector(".strip", state="detached")
    assert not page.problems


def test_a_fit_is_only_begun_for_the_tree_that_was_seen(writer, held):
    topic, old = leaf(writer), writer.view.mark
    edit(writer, "split", topic, into="2")
    answer = writer.put_form("/refit", state=old)
    assert answer.status_code == 409
    assert "split" in answer.text
    assert "Refit now" in answer.text
    assert writer.app.state.session.job is None
    assert writer.put_form("/refit", state="").status_code == 422
    writer.put_form("/refit")
    held.over()
    assert not writer.view.shape.pending


def test_while_somebody_opens_a_state_others_see_the_one_before(writer, monkeypatch):
    session, opening, go = writer.app.state.session, threading.Event(), threading.Event()
    before, opened = session.view(), session._open_newest

    def slowly():
        opening.set()
        assert go.wait(PATIENCE)
        return opened()

    monkeypatch.setattr(session, "_open_newest", slowly)
    writing = threading.Thread(target=edit, args=(writer, "rename", leaf(writer)), kwargs={"name": "Mine"})
    writing.start()
    assert opening.wait(PATIENCE)
    assert session.view() is before
    assert writer.get("/index.json").status_code == 200
    go.set()
    writing.join(PATIENCE)
    assert session.view().number != before.number


def test_a_name_changes_no_number_and_nothing_is_worked_out_again(writer):
    old = writer.view
    old.warm()
    old.list_rows(old.tree.root, "typical", "all")
    edit(writer, "rename", leaf(writer), name="Mine")
    new = writer.view
    assert new is not old
    assert "Mine" in new.names
    for name in ("sizes", "assigned_nodes", "hard", "hard_sizes", "lengths", "columns", "node_weight", "mask"):
        assert getattr(new, name) is getattr(old, name), name
    assert new.rank("newest") is old.rank("newest")
    assert new.list_rows(new.tree.root, "typical", "all") is old.list_rows(old.tree.root, "typical", "all")
    edit(writer, "merge", leaf(writer), other=leaf(writer, 1))
    merged = writer.view
    assert merged.lengths is old.lengths
    assert merged.rank("newest") is old.rank("newest")
    assert len(merged.sizes) == len(old.sizes) - 1
    assert merged.shares_under(merged.tree.root) is not old.shares_under(old.tree.root)
    writer.put_form("/undo")
    assert writer.view.sizes == old.sizes
    assert (writer.view.assigned_nodes == old.assigned_nodes).all()


def test_durations_as_people_say_them():
    assert [time_left(seconds) for seconds in (0.2, 42.4, 61, 600)] == ["1 s", "42 s", "2 min", "10 min"]


def test_how_many_steps_there_will_be_is_told_from_what_they_gain():
    rules = Rules(max_iter=100, tol=0.01, weight=10)
    assert expected_steps((0, 8, 12), 3, rules) is None
    assert expected_steps((0, 8, 12, 14, 15), 4, rules) == 4 + 4 + 1  # 1, 0.5, 0.25, 0.125, then less than 0.1
    assert expected_steps((0, 8, 12, 14, 14.05), 4, rules) == 5
    assert expected_steps((0, 1, 2, 3, 4), 4, rules) == 100


def test_how_sure_the_topics_are_is_found_beside_the_pages(writer, held):
    assert "Topic stability has not been measured" in writer.get("/model").text
    writer.put_form("/steadiness", back="/model")
    held.steps(1)
    assert "Measuring topic stability: tree 1 of about 5" in strip(writer)
    assert "The tree does not change." in strip(writer)
    topic = leaf(writer)
    edit(writer, "rename", topic, name="Mine")  # it keeps nobody out
    held.over()
    assert "came back in 5 other trees" in writer.get("/model").text
    assert "Topic stability: " in writer.get(f"/topic/{topic}").text
