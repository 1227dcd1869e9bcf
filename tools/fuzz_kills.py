"""Kill commands at random moments, and see whether the collection is as it was, or as it should be: ``make fuzz``.

After each kill the folder opens or says what to do, ``check`` finds no damage, the state is the old one or the new one,
and the same command can be run again. A command that does not exist yet is left out, and that is said.

    python tools/fuzz_kills.py --kills 200 [--seed 0] [--only grow]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

TOPIARIST = (sys.executable, "-m", "topiarist")
FOLDER = "notes.topiary"
THEMES = ("cat dog mouse fur paw tail whisker claw", "star moon planet orbit comet sky telescope ray")
SAID = (
    "an unfinished grow lies at",
    "there is no collection at",
    "is being written by",
)  # what may be said of a folder


@dataclass(frozen=True)
class Victim:
    """A command to kill: how to prepare for it, how to run it, and how to run it again."""

    name: str
    prepare: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]
    again: tuple[str, ...]
    needs: str = ""  # another command


Rehearsal = tuple[Path, str | None, str | None, float]  # where it starts, the old and the new state, seconds
GROW = ("grow", "notes", "--topics", "3")
RENAME = ("shape", FOLDER, "rename", "1")
BASE = ("grow", "notes", "--topics", "2")
VICTIMS = (
    Victim("grow", (), GROW, (*GROW, "--resume")),
    Victim("grow --force", (BASE,), (*GROW, "--force"), (*GROW, "--force")),
    Victim("grow --resume", (("!kill", *GROW),), (*GROW, "--resume"), (*GROW, "--resume")),
    Victim("shape rename", (BASE,), (*RENAME, "Pets"), (*RENAME, "Animals"), "shape"),
    Victim("shape merge", (GROW,), ("shape", FOLDER, "merge", "1", "2"), ("check", FOLDER), "shape"),
    Victim("file --add", (BASE,), ("file", FOLDER, "new", "--add"), ("check", FOLDER), "file"),
)  # fmt: skip


def write_notes(home: Path, n_docs: int) -> None:
    """Small texts on two subjects, and a few new ones."""
    for folder, number in (("notes", n_docs), ("new", 30)):
        (home / folder).mkdir()
        for n in range(number):
            words = THEMES[n % 2].split()
            picked = " ".join(words[(n + step * (1 + n % 3)) % 8] for step in range(6))
            (home / folder / f"{folder}{n:04}.txt").write_text(f"the story of {picked} and the {words[n % 8]} {n % 11}")


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run([*TOPIARIST, *arguments], cwd=home, capture_output=True, text=True, check=False, timeout=120)


def killed(home: Path, after: float, *arguments: str) -> bool:
    """Run a command and kill it after so many seconds; whether it was still running."""
    process = subprocess.Popen(
        [*TOPIARIST, *arguments], cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(timeout=after)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True


def sign(home: Path) -> str | None:
    """What the collection is now: its state and how many documents it has; None where there is none."""
    from topiarist.errors import TopiaristError
    from topiarist.files.collection import Collection

    try:
        found = Collection.open(home / FOLDER)
    except TopiaristError:
        return None
    known = {
        "state": found.state.to_dict(),
        "documents": len(found),
        "words": [node.words for node in found.tree.nodes],
    }
    known["state"].pop("parts", None)
    known["shares"] = [round(float(share), 4) for share in found.shares.sum(axis=0)]
    found.folder.close()
    return json.dumps(known, sort_keys=True, default=str)


def faults_after(home: Path, victim: Victim, old: str | None, new: str | None) -> Iterator[str]:
    """Everything that is wrong after a kill."""
    from topiarist.errors import TopiaristError
    from topiarist.files.check import check

    now = sign(home)
    if now not in (old, new):
        yield f"{victim.name}: neither the old state nor the new one"
    if now is None:
        try:
            check(home / FOLDER)
        except TopiaristError as error:
            if not any(text in str(error) for text in SAID):
                yield f"{victim.name}: does not say what to do: {error}"
    else:
        damage = [found for found in check(home / FOLDER) if found.severity == "error"]
        if damage:
            yield f"{victim.name}: {damage[0].what} ({damage[0].where})"
    again = run(home, *victim.again)
    if again.returncode != 0:
        yield f"{victim.name}: again gives {again.returncode}: {again.stderr.strip()[-300:]}"
    elif victim.again[0] == "grow":
        if sign(home) != new:
            yield f"{victim.name}: run again, it makes something else"
        left = [found for found in check(home / FOLDER) if found.severity != "note"]
        if left:
            yield f"{victim.name}: after running again: {left[0].what}"


def prepared(home: Path, victim: Victim, pristine: Path, rng: random.Random, seconds: float) -> None:
    """A new home for one kill."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pristine, home)
    for command in victim.prepare:
        if command[0] == "!kill":
            killed(home, rng.uniform(0.3, seconds), *command[1:])
        else:
            done = run(home, *command)
            if done.returncode:
                raise SystemExit(f"could not prepare {victim.name}: {done.stderr}")


def rounds(
    where: Path, kills: int, seed: int, only: str = "", *, n_docs: int = 400, say: Callable[[str], None] = print
) -> list[str]:
    """Kill so many times, in turn each command that there is; what was found."""
    rng, pristine, home = random.Random(seed), where / "pristine", where / "home"
    pristine.mkdir()
    write_notes(pristine, n_docs)
    commands = run(where, "--help").stdout
    there = [one for one in VICTIMS if one.name.startswith(only) and (not one.needs or f" {one.needs} " in commands)]
    for victim in VICTIMS:
        if victim not in there and victim.name.startswith(only):
            say(f"left out: {victim.name} (there is no such command)")
    found: list[str] = []
    tally: Counter[str] = Counter()
    known: dict[str, Rehearsal] = {}
    for number in range(kills):
        victim = there[number % len(there)]
        if victim.name not in known:
            known[victim.name] = _rehearsed(where, victim, pristine, rng)
        start, old, new, seconds = known[victim.name]
        if any(step[0] == "!kill" for step in victim.prepare):
            prepared(home, victim, pristine, rng, seconds)
            old = None
            if sign(home) is not None:
                continue
        else:
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(start, home)
        alive = killed(home, rng.uniform(0.2, seconds * 1.1), *victim.command)
        tally[f"{victim.name}: {'killed' if alive else 'was done'}"] += 1
        faults = list(faults_after(home, victim, old, new))
        if faults:
            kept = where / f"fault-{number}"
            shutil.copytree(home, kept)
            found += [f"{fault} [{kept}]" for fault in faults]
            say(faults[0])
        if (number + 1) % 20 == 0:
            say(f"{number + 1} kills, {len(found)} faults")
    for what, times in sorted(tally.items()):
        say(f"{times:5} {what}")
    return found


def _rehearsed(
    where: Path, victim: Victim, pristine: Path, rng: random.Random
) -> tuple[Path, str | None, str | None, float]:
    """The state before and after a command that nobody kills, and how long it takes."""
    start = where / f"start-{victim.name.replace(' ', '-')}"
    prepared(start, victim, pristine, rng, 2.0)
    old = sign(start)
    rehearsal = where / "rehearsal"
    shutil.rmtree(rehearsal, ignore_errors=True)
    shutil.copytree(start, rehearsal)
    began = time.perf_counter()
    done = run(rehearsal, *victim.command)
    if done.returncode:
        raise SystemExit(f"{victim.name} does not work: {done.stderr}")
    return start, old, sign(rehearsal), time.perf_counter() - began


def main() -> None:
    """Kill, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="commands that begin so")
    parser.add_argument("--documents", type=int, default=400)
    options = parser.parse_args()
    where = Path(tempfile.mkdtemp(prefix="topiarist-fuzz-"))
    found = rounds(where, options.kills, options.seed, options.only, n_docs=options.documents)
    for fault in found:
        print(f"FAULT {fault}")
    print(f"{options.kills} kills, {len(found)} faults")
    if found:
        raise SystemExit(1)
    shutil.rmtree(where)


if __name__ == "__main__":
    main()
