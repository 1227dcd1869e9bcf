"""Faults of the system at every call of every command that writes, and disks that are full: ``make fuzz``.

    python tools/fuzz_faults.py [--most 40] [--only file] [--sizes 12] [--seed 0]

Each command is rehearsed once, its calls that open, write, sync, rename, make or link something in the folder being
counted and their order recorded: every file that a commit names must have been synced before it. Then it is run again
and again from the same beginning, each time with a fault at another call: ENOSPC, EMFILE, ENOMEM, EIO, once or from
then on. Then on a disk of its own that is full at one of several sizes, where mounting one is allowed; files that may
not grow stand in for that elsewhere. After each the collection is what it was or what it should become, ``check`` finds
nothing, the exit code is one of 0 to 5, nobody speaks of damage, and nothing takes longer than a minute.
"""

from __future__ import annotations

import argparse
import builtins
import errno
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import trials  # noqa: E402
from tests.faults import counted, failing  # noqa: E402
from trials import FOLDER, THEMES, Done, note  # noqa: E402

LONGEST = 60  # seconds
FAULTS = (errno.ENOSPC, errno.EMFILE, errno.ENOMEM, errno.EIO)


@dataclass(frozen=True)
class Victim:
    """A command to run: its arguments; whether it begins without a collection; whether it commits step by step."""

    name: str
    arguments: tuple[str, ...]
    alone: bool = False
    stepwise: bool = False


VICTIMS = (
    Victim("grow", ("grow", "notes.jsonl", "--topics", "3", "-o", FOLDER), alone=True),
    Victim("grow --force", ("grow", "notes.jsonl", "--topics", "3", "-o", FOLDER, "--force")),
    Victim("file --add", ("file", FOLDER, "new.jsonl", "--add")),
    Victim("shape rename", ("shape", FOLDER, "rename", "1", "Pets")),
    Victim("shape split", ("shape", FOLDER, "split", "1", "2")),
    Victim("name", ("name", FOLDER, "--apply", "--topic", "1", "--with", "echo Felines")),
    Victim("remove", ("remove", FOLDER, "n3", "n4", "--yes")),
    Victim("remove --forget", ("remove", FOLDER, "n5", "--forget", "--yes")),
    Victim("learn", ("learn", FOLDER)),
    Victim("review", ("review", FOLDER, "--judgements", "judged.csv"), stepwise=True),
)


def write_notes(home: Path, number: int) -> None:
    """Small texts on two subjects with labels, some new ones, and judgements of a few."""
    home.mkdir()
    for name, first, last in (("notes", 0, number), ("new", number, number + 12)):
        with (home / f"{name}.jsonl").open("w") as file:
            for n in range(first, last):
                body = {"id": f"n{n}", "text": f"{note(n)} {n}", "label": f"l{n % 2}"}
                file.write(json.dumps(body) + "\n")
    rows = "".join(f"n{n},{'y' if n % 2 else 'n'}\n" for n in range(12))
    (home / "judged.csv").write_text(f"id,label\n{rows}")


def warm_up(home: Path, where: Path) -> None:
    """Load and compile here what commands load when they run, so that those that are forked need not."""
    from tests.digests import digest_of

    from topiarist.cli.commands import app  # noqa: F401
    from topiarist.collection.collection import Collection
    from topiarist.text.readers import read

    if _warm:
        return
    _warm.append(where)
    with read(home / "notes.jsonl") as documents, Collection.grow(documents, where) as collection:
        digest_of(collection)
        collection.shape(["rename 1 Warm"])
        collection.add([f"the story of {THEMES[0]}"])
        collection.learn({f"n{n}": [f"l{n % 2}"] for n in range(20)})


_warm: list[Path] = []


def run(home: Path, arguments: tuple[str, ...], within: Callable[[Path], Any] | None = None) -> Done:
    """Run a command to its end; one that takes longer than it should has hung."""
    return trials.run(home, arguments, within, LONGEST)


# ---- what goes wrong


def faulty(at: int, fault: int, *, once: bool) -> Callable[[Path], Any]:
    """A context in which a call fails."""

    @contextmanager
    def within(folder: Path) -> Iterator[Any]:
        import pytest

        with pytest.MonkeyPatch.context() as patch, failing(folder, patch, at, fault, once=once) as calls:
            yield _Told(lambda: len(calls.calls) > at)

    return within


@contextmanager
def counting(folder: Path) -> Iterator[Any]:
    """A context in which calls are counted."""
    import pytest

    with pytest.MonkeyPatch.context() as patch, counted(folder, patch) as calls:
        yield _Told(lambda: [list(one) for one in calls.calls])


@dataclass
class _Told:
    told: Callable[[], Any]


class Recorder:
    """The order of writing, syncing, naming and committing: what a commit names without having been synced."""

    def __init__(self, root: Path) -> None:
        self.root = os.path.realpath(root)
        self.dirty: set[str] = set()  # files that were written and not synced since
        self.names: set[str] = set()  # folders that got names and were not synced since
        self.synced: set[str] = set()
        self.made: set[str] = set()  # folders that are new
        self.wrong: list[str] = []
        self.commits = 0

    def told(self) -> dict[str, Any]:
        """What was found."""
        last = [f"{one} after the last commit" for one in sorted(self.names) if one == self.root]
        return {"wrong": self.wrong + last, "commits": self.commits}

    def ours(self, path: str) -> bool:
        """Whether it is a file of the collection that matters."""
        return path.startswith(self.root) and not path.endswith(("-wal", "-shm", "-journal", "/lock", "/writer"))

    def wrote(self, path: str) -> None:
        """A file is open for writing."""
        if self.ours(path):
            self.dirty.add(path)
            self.names.add(os.path.dirname(path))

    def sync(self, path: str) -> None:
        """A file or a folder is on the disk."""
        self.synced.add(path)
        self.dirty.discard(path)
        self.names.discard(path)

    def rename_unnamed(self, old: str, new: str) -> None:
        """Something got its name; the manifest is a commit."""
        if not self.ours(new):
            return
        if os.path.basename(new) == "manifest.json" and os.path.dirname(new) == self.root:
            self._manifest(old)
        for known in (self.dirty, self.names, self.synced, self.made):
            moved = {one for one in known if one == old or one.startswith(f"{old}/")}
            known -= moved
            known |= {new + one[len(old) :] for one in moved}
        self.names.add(os.path.dirname(new))

    def _manifest(self, file: str) -> None:
        self.commits += 1
        if file in self.dirty:
            self.wrong.append("manifest.json is named before it is synced")
        name = json.loads(Path(file).read_text())["generation"]
        generation = os.path.join(self.root, name)
        if generation in self.made:
            inside = [os.path.join(at, one) for at, _, names in os.walk(generation) for one in names]
            self.wrong += [f"{one} before the manifest" for one in inside if self.ours(one) and one not in self.synced]
            folders = [at for at, _, _ in os.walk(generation)]
            self.wrong += [f"the names in {one} before the manifest" for one in folders if one in self.names]
            if self.root in self.names - {os.path.dirname(file)}:
                self.wrong.append("the name of the generation before the manifest")

    def kept(self, folder: str) -> None:
        """A part is about to be named by a transaction."""
        self.commits += 1
        if folder not in {os.path.dirname(one) for one in self.synced | self.dirty} and folder not in self.made:
            return  # it was there before
        inside = [os.path.join(at, one) for at, _, names in os.walk(folder) for one in names]
        self.wrong += [f"{one} before the transaction that names it" for one in inside if one in self.dirty]
        linked = [one for one in inside if one not in self.synced and os.stat(one).st_nlink == 1]
        self.wrong += [f"{one} was never synced" for one in linked]
        around = {folder, os.path.dirname(folder)} & self.names
        self.wrong += [f"the names in {one} before the transaction" for one in sorted(around)]


@contextmanager
def recording(folder: Path) -> Iterator[Recorder]:
    """A context in which everything that reaches the disk by Python is written down."""
    import pytest
    from tests.faults import named

    from topiarist.storage import edit_log

    seen = Recorder(folder)
    plain_open, plain_keep = builtins.open, edit_log.keep
    plain = {name: getattr(os, name) for name in ("open", "fsync", "replace", "rename", "mkdir", "link")}

    def opened(file: Any, mode: str = "r", *more: Any, **others: Any) -> Any:
        found = plain_open(file, mode, *more, **others)
        if not isinstance(file, int) and set(mode) & set("wxa+"):
            seen.wrote(os.path.realpath(file))
        return found

    def low(path: Any, flags: int, *more: Any, **others: Any) -> int:
        number: int = plain["open"](path, flags, *more, **others)
        if flags & (os.O_WRONLY | os.O_RDWR):
            seen.wrote(os.path.realpath(path))
        return number

    def fsync(handle: Any) -> None:
        plain["fsync"](handle)
        seen.sync(os.path.realpath(named(handle if isinstance(handle, int) else handle.fileno())))

    def moves(name: str) -> Any:
        def move(old: Any, new: Any, **others: Any) -> None:
            before, after = os.path.realpath(old), os.path.realpath(new)
            seen.rename_unnamed(before, after)
            plain[name](old, new, **others)

        return move

    def mkdir(path: Any, *more: Any, **others: Any) -> None:
        plain["mkdir"](path, *more, **others)
        seen.made.add(os.path.realpath(path))
        seen.names.add(os.path.dirname(os.path.realpath(path)))

    def link(old: Any, new: Any, **others: Any) -> None:
        plain["link"](old, new, **others)
        seen.names.add(os.path.dirname(os.path.realpath(new)))
        if os.path.realpath(old) in seen.dirty:
            seen.dirty.add(os.path.realpath(new))

    def keep(database: Any, parts: Any) -> None:
        listed = list(parts)
        for part in listed:
            seen.kept(os.path.realpath(database.path.parent / part.name))
        plain_keep(database, listed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        patch.setattr(edit_log, "keep", keep)
        mended = {"open": low, "fsync": fsync, "mkdir": mkdir, "link": link}
        for name in plain:
            patch.setattr(os, name, mended.get(name) or moves(name))
        yield seen


# ---- what must hold afterwards


def sign(home: Path) -> str | None:
    """What the collection is now; None where there is none."""
    from tests.digests import digest_of

    from topiarist.collection.collection import Collection
    from topiarist.collection.state import CATEGORIES
    from topiarist.errors import DamagedError, TopiaristError

    try:
        with Collection.open(home / FOLDER) as found:
            labels = found.documents.coded_labels().pairs()
            return f"{digest_of(found)} {found.state.parts.get(CATEGORIES)} {labels} {len(found)}"
    except DamagedError as error:
        return f"damaged: {error}"
    except TopiaristError:
        return None


def faults_of(home: Path, done: Done, known: tuple[Any, Any], victim: Victim) -> Iterator[str]:
    """Everything that is wrong after a command that something went wrong in."""
    from topiarist.collection.check import check_folder
    from topiarist.errors import TopiaristError

    if done.code is None:
        yield f"still running after {LONGEST} s"
    elif not 0 <= done.code <= 5:
        yield f"left with {done.code}: {done.said.strip()[-400:]}"
    if "damage" in done.said.lower():
        yield f"spoke of damage: {done.said.strip()[-300:]}"
    now = sign(home)
    if now not in known and not (victim.stepwise and now is not None and not now.startswith("damaged")):
        yield f"neither what it was nor what it should become: {str(now)[:100]}"
    if done.code == 0 and now == known[0] != known[1]:
        yield "said that it was done, and it is not"
    if now is not None:
        try:
            wrong = [one for one in check_folder(home / FOLDER) if one.severity == "error"]
        except TopiaristError as error:
            yield f"cannot be checked: {error}"
            return
        if wrong:
            yield f"check: {wrong[0].what} ({wrong[0].where})"


@dataclass(frozen=True)
class Rehearsed:
    """A command as it goes when nothing goes wrong."""

    calls: int
    before: str | None
    after: str | None
    size: int  # bytes of the home afterwards, everything that lay there meanwhile included
    wrong: list[str]  # that commits name and that was not synced


def rehearsed(start: Path, home: Path, victim: Victim) -> Rehearsed:
    """Run it twice: counted, and recorded."""
    fresh(start, home)
    before = sign(home)
    done = run(home, victim.arguments, counting)
    if done.code not in (0, 1) or done.found is None:
        raise SystemExit(f"{victim.name} does not work: {done.code} {done.said}")
    after, size = sign(home), used(home)
    fresh(start, home)
    recorded = run(home, victim.arguments, recording)
    if recorded.code not in (0, 1) or recorded.found is None:
        raise SystemExit(f"{victim.name} does not work while it is recorded: {recorded.code} {recorded.said}")
    wrong = list(recorded.found["wrong"])
    if not recorded.found["commits"] and not victim.stepwise and victim.name not in ("shape rename", "name"):
        wrong.append("no commit was seen: the recorder is blind")
    return Rehearsed(len(done.found), before, after, size, wrong)


def fresh(start: Path, home: Path) -> None:
    """The same beginning again."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(start, home)


def used(home: Path) -> int:
    """Bytes on the disk."""
    return sum(one.stat().st_blocks * 512 for one in home.rglob("*") if one.is_file())


def rounds(
    where: Path, *, most: int, only: str, sizes: int, seed: int, n_docs: int = 60, say: Callable[[str], None] = print
) -> tuple[list[str], Counter[str]]:
    """All victims, all calls (or as many as ``most``, drawn at random), all sizes; what was found, and the tally."""
    chance, tally, found = random.Random(seed), Counter[str](), list[str]()  # noqa: S311
    plain, grown, home = where / "plain", where / "grown", where / "home"
    write_notes(plain, n_docs)
    warm_up(plain, where / "warm")
    shutil.copytree(plain, grown)
    base = ("grow", "notes.jsonl", "--topics", "2", "--label-column", "label", "-o", FOLDER)
    if (done := run(grown, base)).code:
        raise SystemExit(f"could not begin: {done.said}")
    for victim in (one for one in VICTIMS if one.name.startswith(only)):
        start = plain if victim.alone else grown
        known = rehearsed(start, home, victim)
        found += [f"{victim.name}: {one}" for one in known.wrong]
        places = list(range(known.calls))
        if len(places) > most:
            places = sorted(chance.sample(places, most))
        for number, at in enumerate(places):
            fault = FAULTS[number % len(FAULTS)]
            fresh(start, home)
            done = run(home, victim.arguments, faulty(at, fault, once=bool(number % 2)))
            tally[f"{victim.name}: exit {done.code}"] += 1
            for wrong in faults_of(home, done, (known.before, known.after), victim):
                found.append(f"{victim.name}, {errno.errorcode[fault]} at call {at}: {wrong}")
                say(found[-1])
        for size in _sizes(start, known, sizes, victim):
            done = on_small_disk(start, home, victim, size)
            tally[f"{victim.name}, disk full: exit {done.code}"] += 1
            for wrong in faults_of(home, done, (known.before, known.after), victim):
                found.append(f"{victim.name}, disk of {size:,} bytes: {wrong}")
                say(found[-1])
        say(f"{victim.name}: {known.calls} calls, {len(places)} of them failed in turn, {sizes} full disks")
    return found, tally


def _sizes(start: Path, known: Rehearsed, number: int, victim: Victim) -> list[int]:
    """Sizes from what is there already to what is needed."""
    least = used(start) + (64 << 10)  # what a disk needs for itself
    most = max(known.size, 2 * used(start)) + (known.size // 2)
    return [least + (most - least) * place // max(1, number - 1) for place in range(number)]


def on_small_disk(start: Path, home: Path, victim: Victim, size: int) -> Done:
    """Run a command where no more than so many bytes fit; then there is room again, so that one can look."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    if not _asked("mount", "-t", "tmpfs", "-o", f"size={size}", "none", home):
        fresh(start, home)
        return run(home, victim.arguments, lambda _: _no_larger(size))
    try:
        shutil.copytree(start, home, dirs_exist_ok=True)
        done = run(home, victim.arguments)
        _asked("mount", "-o", "remount,size=256m", home)
        kept = home.with_name("kept")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(home, kept)
    finally:
        _asked("umount", home)
    shutil.rmtree(home)
    kept.rename(home)
    return done


def _asked(*command: Any) -> bool:
    """Whether the system does something that not everybody may ask for."""
    try:
        return subprocess.run([*map(str, command)], capture_output=True, check=False).returncode == 0  # noqa: S603
    except OSError:
        return False


@contextmanager
def _no_larger(size: int) -> Iterator[Any]:
    """No file may grow larger than a part of so many bytes: what there is where no disk can be mounted."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(4096, size // 8), resource.RLIM_INFINITY))
    yield _Told(lambda: size)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def main() -> None:
    """Let everything fail once, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=100_000, help="calls of a command that fail; all without it")
    parser.add_argument("--only", default="", help="commands that begin so")
    parser.add_argument("--sizes", type=int, default=12, help="of full disks")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="topiarist-faults-") as folder:
        found, tally = rounds(Path(folder), most=asked.most, only=asked.only, sizes=asked.sizes, seed=asked.seed)
    for what, times in sorted(tally.items()):
        print(f"{times:5} {what}")
    print(f"{sum(tally.values()):,} faults injected in {time.perf_counter() - began:.0f} s, {len(found)} found wrong")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
