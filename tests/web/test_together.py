"""What happens at the same time: two clicks, a fit and marks, a busy moment and the searches after it."""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from tests.web.clients import HERE, Writer, edit, leaf
from tests.web.test_jobs import PATIENCE, Held
from topiarist.text.documents import Document
from topiarist.web import query_limits
from topiarist.web.http import safety
from topiarist.web.http.server import explorer, make_ready
from topiarist.web.jobs import Job
from topiarist.web.pages.registry import PAGES
from topiarist.web.view import View

ID = "wire/law/bail/000.txt"


def test_documents_are_filed_once_however_often_the_button_is_pressed(writer):
    key = writer.app.state.session.keep_for_later([Document("new", "court bail judge custody release", "new")])
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: writer.put_form("/keep", key=key).status_code, range(3)))
    assert sorted(answers) == [200, 409, 409]
    assert writer.app.state.session.fresh().n_docs == 401


def test_documents_that_could_not_be_stored_can_be_filed_again(writer, monkeypatch):
    session = writer.app.state.session
    key = session.keep_for_later([Document("new", "court bail judge custody release", "new")])
    with session.writer() as collection, collection.folder.writing():
        monkeypatch.setattr("topiarist.web.forms.posts.PATIENCE", 0.1)
        assert writer.put_form("/keep", key=key).status_code == 503
    assert writer.put_form("/keep", key=key).status_code == 200
    assert session.fresh().n_docs == 401


def test_an_edit_after_the_fit_is_recorded_gets_a_fit_of_its_own(writer, monkeypatch):
    warming, go, ended, warm, end = threading.Event(), threading.Event(), threading.Event(), View.warm, Job.end

    def slowly(view):
        warming.set()
        assert go.wait(PATIENCE)
        warm(view)

    def over(job, error=""):
        end(job, error)
        ended.set()

    monkeypatch.setattr(View, "warm", slowly)
    monkeypatch.setattr(Job, "end", over)
    session = writer.app.state.session
    edit(writer, "split", leaf(writer), into="2", refit="1")
    assert warming.wait(PATIENCE)
    first = session.job
    edit(writer, "merge", leaf(writer), other=leaf(writer, 1), refit="1")
    assert session.job is not first
    go.set()
    for _ in range(600):
        if first.done and session.job.done:
            break
        ended.wait(0.1)
        ended.clear()
    assert not session.job.error
    assert not session.fresh().shape.pending


def test_marks_do_not_wait_for_a_fit(writer, monkeypatch):
    held = Held(monkeypatch)
    try:
        edit(writer, "split", leaf(writer), into="2", refit="1")
        held.steps(2)
        assert writer.put_form("/tag", document=ID, tag="seen").status_code == 200
        assert writer.put_form("/read", document=ID).status_code == 200
        assert writer.put_form("/judge", document=ID, does="leave").status_code == 200
        assert writer.put_form("/shape", edit="rename", topic=leaf(writer), name="x").status_code == 503
        assert writer.app.state.session.view().collection.marks.tags() == {"seen": 1}
    finally:
        held.over()
    view = writer.app.state.session.fresh()
    assert view.collection.marks.tags() == {"seen": 1}
    assert view.collection.marks.read() == [view.collection.documents.row_of(ID)]


def test_a_busy_moment_is_forgotten(writer, monkeypatch):
    whole = writer.get("/search.json?q=court+hearing").json()
    fresh = Writer(writer.app, base_url=HERE)
    writer.app.state.session.view().remembered._known.clear()
    with monkeypatch.context() as busy:
        busy.setattr(query_limits, "PATIENCE", -1.0)
        busy.setattr(query_limits, "COUNTING", -1.0)
        busy.setattr(query_limits, "EXTRA_SECONDS", -1.0)
        busy.setattr(query_limits, "CLOCK_STEPS", 1)
        assert fresh.get("/export.csv?q=court+hearing").status_code == 503
    assert fresh.get("/export.csv?q=court+hearing").status_code == 200
    assert fresh.get("/search.json?q=court+hearing").json() == whole


def test_one_at_a_time_counts_all(writer):
    with query_limits.allow_counting():
        assert query_limits.get_time_limit() == query_limits.COUNTING
        second = []

        def other():
            with query_limits.allow_counting():
                second.append(query_limits.get_time_limit())

        thread = threading.Thread(target=other)
        thread.start()
        thread.join(PATIENCE)
        assert second == [query_limits.PATIENCE]
    with query_limits.allow_counting():
        assert query_limits.get_time_limit() == query_limits.COUNTING


def test_json_is_read_only_from_whoever_has_the_token(copied, monkeypatch):
    writer = TestClient(explorer(copied), base_url=HERE)
    monkeypatch.setattr(json, "loads", lambda *_: pytest.fail("it was read"))
    headers = {"Origin": HERE, "Content-Type": "application/json"}
    assert writer.post("/tag", content=b"[" * 10_000, headers=headers).status_code == 403
    assert writer.post("/tag", content=b"[", headers={**headers, safety.TOKEN: "no"}).status_code == 403


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"topic": ' + b"9" * 5_000 + b"}", b"\xff", b"[]", b'{"state": 1}'])
def test_json_that_makes_no_sense_is_refused(copied, body):
    app = explorer(copied)
    headers = {"Origin": HERE, "Content-Type": "application/json", safety.TOKEN: app.state.session.token}
    answer = TestClient(app, base_url=HERE).post("/tag", content=body, headers=headers)
    assert answer.status_code == 422


def test_a_folder_that_is_gone_is_said(writer, copied):
    writer.app.state.session.view()
    shutil.rmtree(copied)
    answer = writer.get("/")
    assert answer.status_code == 503
    assert "was moved or deleted" in answer.text


def test_the_report_can_be_taken_along(writer):
    answer = writer.get("/report.html")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "400 documents" in answer.text
    assert "/report.html" in writer.get("/").text


def test_help_says_what_words_mean(writer):
    page = writer.get("/help.json").json()
    assert {"topic", "share", "level"} <= {word for word, _ in page["words"]}
    text = writer.get("/help").text
    assert all(does in text for _, does in page["keys"])


def test_pages_that_are_slow_at_first_are_made_before_anybody_asks(writer):
    session = writer.app.state.session
    make_ready(session)
    remembered = session.view().remembered
    known = set(remembered._known)
    assert known
    for page in PAGES:
        if page.slow:
            assert writer.get(page.path).status_code == 200
    assert set(remembered._known) == known


def test_what_works_ahead_lets_those_go_first_who_wait_for_a_page(writer, monkeypatch):
    session, order = writer.app.state.session, []
    monkeypatch.setattr("topiarist.web.session.REST", PATIENCE)
    asked, may_end = threading.Event(), threading.Event()

    def look(view):
        asked.set()
        may_end.wait(PATIENCE)
        order.append("answered")

    def ahead():
        session.wait_for_requests()
        order.append("rested")

    threads = [
        threading.Thread(target=session.with_current_view, args=(session.view(), look)),
        threading.Thread(target=ahead),
    ]
    threads[0].start()
    asked.wait(PATIENCE)
    threads[1].start()
    threads[1].join(0.2)  # time to do it wrong
    may_end.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert order == ["answered", "rested"]
