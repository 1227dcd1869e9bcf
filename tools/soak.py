"""A long day in minutes: many readers, two writers in the browser and one at the terminal, then every promise is kept.

    python tools/soak.py [--minutes 10] [--readers 50] [--documents 400]
    python tools/soak.py --additions 100000 [--batch 500] [--minutes 20] [--go-on FOLDER]
    python tools/soak.py --kills 50

The first starts an explorer on loopback; readers open pages as fast as they get answers, two writers tag documents and
rename topics, and ``file --add`` is run beside. Afterwards ``check`` must find nothing, and everything that was
acknowledged must be there: once. The second adds documents in small batches, and kills every second command at a moment
of chance: a batch is in the collection wholly or not at all, none is lost that was acknowledged, none is there twice;
``--go-on`` keeps the collection in a folder, in which the next run goes on with what the last one left.
The third kills the explorer while two clients write, again and again: what they were told is done is there, once.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from trials import finish, killed, run  # noqa: E402

WORDS = (
    "model",
    "dark matter",
    "galaxy",
    "quantum",
    "graph -field",
    '"large scale"',
    "date:2014",
    "nothingatall",
    "fiel",
)
PAGES = ("/", "/tree", "/model", "/time", "/groups", "/map", "/duplicates", "/help", "/review", "/new")
PATIENCE = 60.0  # seconds for an answer


def command(*arguments: object) -> list[str]:
    """A command of topiarist."""
    return [sys.executable, "-m", "topiarist", *map(str, arguments)]


def grown(folder: Path, n_docs: int, topics: int = 8) -> None:
    """A collection of abstracts."""
    made = command("grow", "demo", "--limit", n_docs, "--topics", topics, "-o", folder, "-q")
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


class Explorer:
    """An explorer that runs beside: where it is, and what it answers."""

    def __init__(self, folder: Path, log: Path, patience: float = PATIENCE) -> None:
        self.log, self.patience = log.open("w"), patience
        self.process = subprocess.Popen(command("explore", folder, "--no-browser"), stderr=self.log, stdout=self.log)  # noqa: S603
        self.address = ""
        for _ in range(1200):
            found = re.search(r"open at (http://\S+)", log.read_text())
            if found:
                self.address = found[1].rstrip("/")
            if found or self.process.poll() is not None:
                break
            time.sleep(0.1)
        parts = urlsplit(self.address)
        self.host, self.port, self.door = parts.hostname or "", parts.port or 0, parts.path

    def ask(self, path: str, form: dict[str, object] | None = None) -> tuple[int, str]:
        """The status and the text of an answer; 0 for none."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.patience)
        try:
            if form is None:
                connection.request("GET", f"{self.door}{path}")
            else:
                headers = {
                    "Origin": f"http://{self.host}:{self.port}",
                    "Content-Type": "application/x-www-form-urlencoded",
                }
                connection.request("POST", f"{self.door}{path}", urlencode(form), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)
        finally:
            connection.close()

    @property
    def megabytes(self) -> float:
        """What it has in memory."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0

    def stop(self) -> int:
        """As Ctrl-C does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(30)
        finally:
            self.process.kill()
            self.log.close()


class Soak:
    """Readers and writers of one explorer, and what they were told."""

    def __init__(self, explorer: Explorer, ids: list[str], topics: list[int], name: str = "") -> None:
        self.explorer, self.ids, self.topics, self.name = explorer, ids, topics, name
        self.statuses, self.wrong, self.times = Counter[str](), list[str](), list[float]()
        self.tagged, self.renamed, self.added = list[tuple[str, str]](), list[tuple[int, str]](), list[str]()
        self.over = threading.Event()
        self.guard = threading.Lock()

    def read(self, seed: int) -> None:
        """Open pages until it is over."""
        chance = random.Random(seed)  # noqa: S311
        while not self.over.is_set():
            path = chance.choice(
                (
                    chance.choice(PAGES),
                    f"/search?q={quote(chance.choice(WORDS))}",
                    f"/search.json?q={quote(chance.choice(WORDS))}",
                    f"/topic/{chance.choice(self.topics)}",
                    f"/doc/{quote(chance.choice(self.ids), safe='')}",
                )
            )
            began = time.monotonic()
            status, text = self.explorer.ask(path)
            self._note(f"read {status}", time.monotonic() - began)
            if status in (0, 500) or not text:
                self.wrong.append(f"{path}: {status} {text[:200]}")

    def _note(self, what: str, seconds: float = 0.0) -> None:
        with self.guard:
            self.statuses[what] += 1
            if seconds:
                self.times.append(seconds)

    def _hidden(self, path: str) -> dict[str, str]:
        """What the forms of a page send along."""
        _, text = self.explorer.ask(path)
        found = dict(re.findall(r'name="(token|state)" value="([^"]*)"', text))
        return {name: value.replace("&amp;", "&") for name, value in found.items()}

    def tag(self) -> None:
        """Tag one document after the other, each time with another tag."""
        number = 0
        while not self.over.is_set():
            number += 1
            id, name = self.ids[number % len(self.ids)], f"soak {number} {self.name}".strip()
            known = self._hidden(f"/doc/{quote(id, safe='')}")
            status, _ = self.explorer.ask("/tag", {**known, "document": id, "tag": name})
            self._note(f"tag {status}")
            if status in (200, 303):
                self.tagged.append((id, name))

    def rename(self) -> None:
        """Give one topic after the other another name; who was faster is asked again."""
        number = 0
        while not self.over.is_set():
            number += 1
            topic, name = self.topics[number % len(self.topics)], f"Soaked {number} {self.name}".strip()
            form = {**self._hidden(f"/topic/{topic}"), "edit": "rename", "topic": topic, "name": name}
            status, _ = self.explorer.ask("/shape", form)
            self._note(f"rename {status}")
            if status in (200, 303):
                self.renamed.append((topic, name))

    def add(self, folder: Path) -> None:
        """Add a document at the terminal, again and again."""
        number = 0
        while not self.over.wait(5.0):
            number += 1
            id = f"soaked-{number}"
            file = folder.parent / "new.jsonl"
            file.write_text(json.dumps({"id": id, "text": "a model of dark matter in galaxies and their clusters"}))
            done = subprocess.run(  # noqa: S603
                command("file", folder, file, "--add", "--no-learn"),
                env=os.environ | {"TOPIARIST_WAIT": "30"}, capture_output=True, check=False,
            )  # fmt: skip
            self._note(f"file --add {done.returncode}")
            if done.returncode == 0:
                self.added.append(id)
            elif done.returncode not in (5,):
                self.wrong.append(f"file --add: {done.returncode} {done.stderr.decode()[-300:]}")


def soak(where: Path, minutes: float, n_readers: int, n_docs: int, patience: float) -> list[str]:
    """Read and write for some minutes; everything that was found wrong."""
    from topiarist.collection.collection import Collection

    folder = where / "soak.topiary"
    grown(folder, n_docs)
    with Collection.open(folder) as collection:
        ids, topics = collection.documents.ids(), list(collection.outline.topics[1:])
    explorer = Explorer(folder, where / "explorer.log", patience)
    if not explorer.address:
        raise SystemExit(f"the explorer did not start: {(where / 'explorer.log').read_text()}")
    one = Soak(explorer, ids, topics)
    workers = [threading.Thread(target=one.read, args=(seed,), daemon=True) for seed in range(n_readers)]
    workers += [threading.Thread(target=each, daemon=True) for each in (one.tag, one.rename)]
    workers.append(threading.Thread(target=one.add, args=(folder,), daemon=True))
    explorer.ask("/")
    began, memory = time.monotonic(), explorer.megabytes
    for worker in workers:
        worker.start()
    while time.monotonic() - began < 60 * minutes and explorer.process.poll() is None:
        time.sleep(0.5)
    after = explorer.megabytes if explorer.process.poll() is None else 0.0
    one.over.set()
    for worker in workers:
        worker.join(2 * patience)
    wrong = list(one.wrong)
    wrong += [f"still waiting: {worker.name}" for worker in workers if worker.is_alive()]
    if explorer.process.poll() is not None:
        wrong.append(f"the explorer ended with {explorer.process.poll()}")
    code = explorer.stop()
    if code not in (0, 130, -2):
        wrong.append(f"stopped, the explorer left with {code}")
    wrong += kept(folder, one, n_docs)
    one.times.sort()
    told = ", ".join(f"{name}: {number:,}" for name, number in sorted(one.statuses.items()))
    print(f"{told}")
    places = {name: one.times[int(share * (len(one.times) - 1))] for name, share in (("median", 0.5), ("p99", 0.99))}
    print(", ".join(f"{name} {seconds:.2f} s" for name, seconds in places.items()), end="; ")
    print(f"memory {memory:.0f} MB, then {after:.0f} MB", end="; ")
    print(f"acknowledged: {len(one.tagged):,} tags, {len(one.renamed):,} names, {len(one.added):,} documents")
    return wrong


def kept(folder: Path, one: Soak, n_docs: int) -> list[str]:
    """What was acknowledged and is not there, or is there twice."""
    from topiarist.collection.check import check_folder
    from topiarist.collection.collection import Collection
    from topiarist.storage.edit_log import history

    wrong = [f"check: {found.what}" for found in check_folder(folder) if found.severity == "error"]
    with Collection.open(folder) as collection:
        known = collection.documents.ids()
        rows = {id: row for row, id in enumerate(known)}
        tags = set(collection.marks.coded_tags().pairs())
        wrong += [f"the tag {name!r} of {id} is lost" for id, name in one.tagged if (rows[id], name) not in tags]
        edits = [edit for step in history(collection.generation.database) for edit in step.body.get("edits", ())]
        names = Counter(str(edit["rename"]["name"]) for edit in edits if "rename" in edit)
        wrong += [f"the name {name!r} is in the log {names[name]} times" for _, name in one.renamed if names[name] != 1]
        called = {topic: collection.outline.name(topic) for topic in one.topics}
        last = dict(one.renamed)
        wrong += [f"topic {topic} is not called {name!r}" for topic, name in last.items() if called[topic] != name]
        wrong += [f"the document {id} is lost" for id in one.added if id not in rows]
        if len(known) != len(set(known)) or len(known) < n_docs + len(one.added):
            wrong.append(f"{len(known)} documents, {len(set(known))} different ones")
    return wrong


WHILE = (0.2, 4.0)  # seconds that clients write before the explorer is killed


def explorer_kills(where: Path, number: int, n_docs: int, patience: float, seed: int) -> list[str]:
    """Kill an explorer so many times while two clients write; everything that was found wrong."""
    from topiarist.collection.check import check_folder
    from topiarist.collection.collection import Collection
    from topiarist.storage.edit_log import history

    chance, folder, wrong = random.Random(seed), where / "killed.topiary", list[str]()  # noqa: S311
    grown(folder, n_docs)
    with Collection.open(folder) as collection:
        ids, topics = collection.documents.ids(), list(collection.outline.topics[1:])
    rows, tagged, renamed = {id: row for row, id in enumerate(ids)}, list[tuple[str, str]](), list[str]()
    for turn in range(number):
        explorer = Explorer(folder, where / "explorer.log", patience)
        if not explorer.address:
            wrong.append(
                f"kill {turn}: the explorer did not start again: {(where / 'explorer.log').read_text()[-300:]}"
            )
            break
        one = Soak(explorer, ids, topics, name=f"of {turn}")
        writers = [threading.Thread(target=each, daemon=True) for each in (one.tag, one.rename)]
        for writer in writers:
            writer.start()
        time.sleep(chance.uniform(*WHILE))
        explorer.process.kill()
        one.over.set()
        for writer in writers:
            writer.join(2 * patience)
        explorer.stop()
        tagged, renamed = tagged + one.tagged, renamed + [name for _, name in one.renamed]
        wrong += [f"kill {turn}: check: {found.what}" for found in check_folder(folder) if found.severity == "error"]
        with Collection.open(folder) as collection:
            tags = set(collection.marks.coded_tags().pairs())
            edits = [edit for step in history(collection.generation.database) for edit in step.body.get("edits", ())]
        names = Counter(str(edit["rename"]["name"]) for edit in edits if "rename" in edit)
        wrong += [f"kill {turn}: the tag {name!r} is lost" for id, name in tagged if (rows[id], name) not in tags]
        wrong += [f"kill {turn}: {name!r} is there {names[name]} times" for name in renamed if names[name] != 1]
        if (turn + 1) % 10 == 0:
            print(f"{turn + 1} kills, {len(tagged)} tags, {len(renamed)} names, {len(wrong)} wrong", flush=True)
    print(f"{number} kills of the explorer; acknowledged: {len(tagged):,} tags, {len(renamed):,} names")
    return wrong


SIZES = (0.02, 0.2, 1.0, 1.0, 2.0)  # of batches, in parts of the size that was asked for
WORDS_EACH = 40  # of a document that is added
TRIES = 20  # until a batch is in
FIRST = 300  # documents that the collection is grown from


def additions(where: Path, number: int, size: int, minutes: float, seed: int) -> list[str]:
    """Add so many documents, batch by batch, and kill every second command; everything that was found wrong.

    Ends after so many minutes, however many there are then.
    """
    from topiarist.collection.check import check_folder
    from topiarist.collection.collection import Collection
    from topiarist.text.demo import demo_documents

    folder, home, left = where / "notes.topiary", where, where / "left.json"
    kept = json.loads(left.read_text()) if left.exists() else {}
    if not kept:
        grown(folder, FIRST, 4)
    texts = [" ".join(one.text.split()[:WORDS_EACH]) for one in islice(demo_documents(), FIRST, FIRST + 700)]
    with Collection.open(folder) as collection:  # what commands load is loaded here, before any is forked
        there = collection.documents.ids()
        assert list(collection.file(texts[:1]))  # noqa: S101
    expected = kept.get("ids", there)
    wrong = [] if there == expected else [f"{len(there):,} documents, {len(expected):,} were left"]
    tally, took, began = Counter[str](kept.get("tally", {})), 1.0, time.monotonic()
    chance = random.Random(f"{seed} {tally['batches']}")  # noqa: S311
    first, arguments = FIRST, ("file", folder.name, "batch.jsonl", "--add", "--no-learn", "-q")
    while len(expected) - first < number and time.monotonic() - began < 60 * minutes:
        batch = tally["batches"]
        wanted = min(max(1, round(chance.choice(SIZES) * size)), number + first - len(expected))
        ids = [f"b{batch}-{place}" for place in range(wanted)]
        lines = (json.dumps({"id": id, "text": f"{chance.choice(texts)} {id}"}) for id in ids)
        (home / "batch.jsonl").write_text("\n".join(lines))
        for attempt in range(TRIES):
            start = time.monotonic()
            if (batch + attempt) % 2:
                tally["kills"] += killed(home, chance.uniform(0, 1.1 * took), arguments)
            else:
                done = run(home, arguments)
                took = time.monotonic() - start
                if done.code not in (0, 1):
                    wrong.append(f"batch {batch}: left with {done.code}: {done.said[-300:]}")
            with Collection.open(folder) as collection:
                there = collection.documents.ids()
            known = set(there)
            inside = sum(id in known for id in ids)
            if inside not in (0, wanted):
                wrong.append(f"batch {batch}: {inside} of {wanted} documents are there")
            if inside:
                break
            tally["again"] += 1
        expected += ids
        if there != expected:
            wrong.append(f"after batch {batch} there are {len(there):,} documents, expected {len(expected):,}")
            expected = list(there)
        tally["batches"] += 1
        if tally["batches"] % 25 == 0:
            print(f"{len(expected) - first:,} documents in {dict(tally)}, {len(wrong)} wrong", flush=True)
    left.write_text(json.dumps({"ids": expected, "tally": tally}))
    wrong += [f"check: {one.what}" for one in check_folder(folder) if one.severity == "error"]
    print(
        f"{len(expected) - first:,} documents in {tally['batches']:,} batches, {tally['kills']:,} commands killed,"
        f" {tally['again']:,} batches tried again, in {time.monotonic() - began:.0f} s"
    )
    return wrong


def main() -> None:
    """Soak, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--additions", type=int, default=0, help="documents to add, with kills in between, instead")
    parser.add_argument("--kills", type=int, default=0, help="of the explorer while two clients write, instead")
    parser.add_argument("--batch", type=int, default=20, help="documents that are added at a time, about")
    parser.add_argument("--go-on", type=Path, help="where the collection of additions stays, and is gone on with")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds for an answer; more if busy")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    where = asked.go_on.resolve() if asked.go_on else Path(tempfile.mkdtemp(prefix="topiarist-soak-"))
    where.mkdir(parents=True, exist_ok=True)
    if asked.additions:
        wrong = additions(where, asked.additions, asked.batch, asked.minutes, asked.seed)
    elif asked.kills:
        wrong = explorer_kills(where, asked.kills, asked.documents, asked.patience, asked.seed)
    else:
        wrong = soak(where, asked.minutes, asked.readers, asked.documents, asked.patience)
    finish(wrong, where, keep=bool(asked.go_on))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
