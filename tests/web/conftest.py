"""One small collection for all tests of the explorer, a hostile one, a server, and a browser."""

import random
import shutil
import socket
import subprocess
import threading
import time

import pytest
import uvicorn
from starlette.testclient import TestClient

from tests.review_draws import fixed_draws  # noqa: F401
from tests.web.clients import HERE, Writer
from tests.web.labelled import annotator, folder_of, many, several, single  # noqa: F401
from tests.web.words import GENERAL, HEADINGS, TOPICS
from topiarist.collection.classify.learning import learn_categories
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.documents import Document
from topiarist.web.http.server import explorer

HOSTILE = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</title><svg onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "{{ 7 * 7 }} {% include 'secret' %}",
    "\u202egnp.exe \u2066right to left\u2069",
    "=HYPERLINK('http://evil.example')",
    "'; DROP TABLE documents; --",
)


ODD = ("100%25", "a/../b", "what?#x", "a b+c")


def made(number, rng):
    label = list(TOPICS)[number % len(TOPICS)]
    words = [rng.choice(TOPICS[label].split()) for _ in range(14)] + [rng.choice(GENERAL) for _ in range(12)]
    words += [rng.choice(HEADINGS[label.split("/")[0]].split()) for _ in range(14)]
    rng.shuffle(words)
    text = " ".join(words).capitalize() + "."
    date = f"20{number % 9 + 1:02d}-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
    return Document(f"wire/{label}/{number:03d}.txt", text, f"{words[0].title()} {words[1]} {number}", (label,),
                    f"{label}.txt", date)  # fmt: skip


def documents(n=400):
    rng = random.Random(0)
    return [made(number, rng) for number in range(n)]


def hostile_documents():
    rng = random.Random(1)
    found = []
    for number in range(120):
        plain, trick = made(number, rng), HOSTILE[number % len(HOSTILE)]
        found.append(
            Document(
                f"{number}/{trick}",
                f"{trick} {plain.text} {trick}\n",
                f"{trick} {number}",
                (trick,),
                f"{trick}.html",
                plain.date,
            )
        )
    found += [Document(id, "oil barrel tanker price", "an odd id") for id in ODD]
    found.append(Document("long", "court " * 7_000 + "x" * 200_000, "A line of 200,000 letters"))
    found.append(Document("..", "oil barrel price", "dots"))
    found.append(Document("some.json", "oil barrel output price", "like data"))
    return found


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "news.topiary"
    with Collection.grow(documents(), path, Recipe(topics=6)) as collection:
        learn_categories(collection)
    return str(path)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "hostile.topiary"
    Collection.grow(hostile_documents(), path, Recipe(topics=6)).close()
    return str(path)


LETTERS = "bdfgklmnprstvz"


def invented(number):
    """A word of eight letters of its own."""
    return "".join(LETTERS[number // 14**place % 14] + "aeiou"[(number + place) % 5] for place in range(4))


def deep_documents(n=360, topics=24):
    """Documents of topics in groups of four, which are in groups of eight."""
    rng, found = random.Random(0), []
    for number in range(n):
        leaf = number % topics
        kinds = ((leaf * 12, 14), (1000 + leaf // 4 * 12, 10), (2000 + leaf // 8 * 12, 8), (3000, 8))
        words = [invented(first + rng.randrange(12)) for first, often in kinds for _ in range(often)]
        rng.shuffle(words)
        found.append(Document(str(number), " ".join(words), f"Paper {number}"))
    return found


@pytest.fixture(scope="session")
def deep(tmp_path_factory):
    """A tree of more levels and topics than are opened at once."""
    path = tmp_path_factory.mktemp("deep") / "deep.topiary"
    Collection.grow(deep_documents(), path, Recipe(topics=24)).close()
    return str(path)


@pytest.fixture(scope="session")
def deep_served(deep):
    found = Served(explorer(deep))
    yield found
    found.stop()


@pytest.fixture
def copied(folder, tmp_path):
    """A collection to change."""
    target = tmp_path / "copy.topiary"
    shutil.copytree(folder, target)
    return str(target)


@pytest.fixture(scope="module")
def client(folder):
    """A reader; modules with another collection replace it."""
    return TestClient(explorer(folder), base_url=HERE)


@pytest.fixture(scope="module")
def view(client):
    return client.app.state.session.view()


@pytest.fixture
def writer(copied):
    return Writer(explorer(copied), base_url=HERE)


class Served:
    """A server in a thread."""

    def __init__(self, app):
        self.app = app
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.address = f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def stop(self):
        self.server.should_exit = True
        self.thread.join(10)


@pytest.fixture(scope="session")
def served(folder):
    found = Served(explorer(folder))
    yield found
    found.stop()


@pytest.fixture(scope="session")
def hostile_served(hostile):
    found = Served(explorer(hostile))
    yield found
    found.stop()


@pytest.fixture
def changing(copied):
    found = Served(explorer(copied))
    yield found
    found.stop()


def chromium():
    """The browser of this machine; where it is missing and may be installed, it is."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    if shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False, capture_output=True, timeout=300)
    found = shutil.which("chromium")
    if found is None:
        pytest.fail("the explorer is tested in a browser, and there is none. Try: apt-get install chromium")
    return found


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page that remembers what went wrong and what it asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    made = context.new_page()
    made.set_default_timeout(8_000)
    made.problems, made.asked = [], []
    made.on("console", lambda said: made.problems.append(said.text) if said.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: made.problems.append(str(error)))
    made.on("dialog", lambda dialog: (made.problems.append("a dialog"), dialog.dismiss()))
    made.on("request", lambda request: made.asked.append(request.url))
    yield made
    context.close()
