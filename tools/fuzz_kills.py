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
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from trials import FOLDER, finish, killed, note, run  # noqa: E402

CLEAR_MESSAGES = (
    "there is an unfinished grow at",
    "there is no collection at",
    "is being written by",
)  # a folder without a collection stops with one of these


@dataclass(frozen=True)
class Victim:
    """A command to kill: how to prepare for it, how to run it, and how to run it again."""

    name: str
    prepare: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]
    again: tuple[str, ...]
    needs: str = ""  # another command


MOST = 10  # commands for each kill that is wanted
Rehearsal = tuple[Path, str | None, str | None, float]  # where it starts, the old and the new state, seconds
GROW = ("grow", "notes", "--topics", "3")
RENAME = ("shape", FOLDER, "rename", "1")
BASE = ("grow", "notes", "--topics", "2")
VICTIMS = (
    Victim("grow", (), GROW, (*GROW, "--resume")),
    Victim("grow --force", (BASE,), (*GROW, "--force"), (*GROW, "--force")),
    Victim("grow --resume", (("!kill", *GROW),), (*GROW, "--resume"), (*GROW, "--resume")),
    Victim("shape rename", (BASE,), (*RENAME, "Pets"), (*RENAME, "Animals"), "shape"),
    Victim("shape split", (BASE,), ("shape", FOLDER, "split", "1", "2"), ("check", FOLDER), "shape"),
    Victim("file --add", (BASE,), ("file", FOLDER, "new", "--add"), ("check", FOLDER), "file"),
)  # fmt: skip


def write_notes(home: Path, n_docs: int) -> None:
    """Small texts on two subjects, and a few new ones."""
    for folder, number in (("notes", n_docs), ("new", 30)):
        (home / folder).mkdir()
        for n in range(number):
            (home / folder / f"{folder}{n:04}.txt").write_text(f"{note(n)} {n % 11}")


def warm_up(where: Path) -> None:
    """Load and compile here what commands load when they run, so that those that are forked need not."""
    from topiarist.collection.collection import Collection
    from topiarist.text.readers import read

    with read(where / "notes") as documents:
        Collection.grow(documents, where.parent / "warm.topiary").folder.close()


def sign(home: Path) -> str | None:
    """What the collection is now: its state and how many documents it has; None where there is none."""
    from topiarist.collection.collection import Collection
    from topiarist.errors import TopiaristError

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
    from topiarist.collection.check import check_folder
    from topiarist.errors import TopiaristError

    now = sign(home)
    if now not in (old, new):
        yield f"{victim.name}: neither the old state nor the new one"
    if now is None:
        try:
            check_folder(home / FOLDER)
        except TopiaristError as error:
            if not any(text in str(error) for text in CLEAR_MESSAGES):
                yield f"{victim.name}: does not say what to do: {error}"
    else:
        damage = [found for found in check_folder(home / FOLDER) if found.severity == "error"]
        if damage:
            yield f"{victim.name}: {damage[0].what} ({damage[0].where})"
    again = run(home, victim.again)
    if again.code != 0:
        yield f"{victim.name}: again gives {again.code}: {again.said.strip()[-300:]}"
    elif victim.again[0] == "grow":
        if sign(home) != new:
            yield f"{victim.name}: run again, it makes something else"
        left = [found for found in check_folder(home / FOLDER) if found.severity != "note"]
        if left:
            yield f"{victim.name}: after running again: {left[0].what}"


def prepared(home: Path, victim: Victim, pristine: Path, rng: random.Random, seconds: float) -> None:
    """A new home for one kill."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pristine, home)
    for command in victim.prepare:
        if command[0] == "!kill":
            killed(home, rng.uniform(0.2 * seconds, seconds), command[1:])
        else:
            done = run(home, command)
            if done.code:
                raise SystemExit(f"could not prepare {victim.name}: {done.said}")


def rounds(
    where: Path, kills: int, seed: int, only: str = "", *, n_docs: int = 400, say: Callable[[str], None] = print
) -> list[str]:
    """Kill so many times, in turn each command that there is; what was found.

    A command that had ended before it was to be killed is looked at as well, and does not count.
    """
    rng, pristine, home = random.Random(seed), where / "pristine", where / "home"  # noqa: S311
    pristine.mkdir()
    write_notes(pristine, n_docs)
    warm_up(pristine)
    commands = run(pristine, ("--help",)).said
    there = [one for one in VICTIMS if one.name.startswith(only) and (not one.needs or f" {one.needs} " in commands)]
    for victim in VICTIMS:
        if victim not in there and victim.name.startswith(only):
            say(f"left out: {victim.name} (there is no such command)")
    found: list[str] = []
    tally: Counter[str] = Counter()
    known: dict[str, Rehearsal] = {}
    for number in range(MOST * kills):
        if tally["killed"] >= kills:
            break
        victim = there[number % len(there)]
        if victim.name not in known:
            known[victim.name] = _rehearsed(where, victim, pristine, rng)
        start, old, new, seconds = known[victim.name]
        if any(step[0] == "!kill" for step in victim.prepare):
            prepared(home, victim, pristine, rng, seconds)
            old = None
            if sign(home) is not None:
                tally["had nothing to take up"] += 1
                continue
        else:
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(start, home)
        alive = killed(home, rng.uniform(0.0, seconds * 1.1), victim.command)
        tally[f"{victim.name}: {'killed' if alive else 'was done'}"] += 1
        tally["killed" if alive else "was done"] += 1
        faults = list(faults_after(home, victim, old, new))
        if faults:
            kept = where / f"fault-{number}"
            shutil.copytree(home, kept)
            found += [f"{fault} [{kept}]" for fault in faults]
            say(faults[0])
        if (number + 1) % 20 == 0:
            say(f"{number + 1} commands, {tally['killed']} killed, {len(found)} faults")
    for what, times in sorted(tally.items()):
        say(f"{times:5} {what}")
    return found


def _rehearsed(
    where: Path, victim: Victim, pristine: Path, rng: random.Random
) -> tuple[Path, str | None, str | None, float]:
    """The state before and after a command that nobody kills, and how long it takes."""
    start = where / f"start-{victim.name.replace(' ', '-')}"
    whole = replace(victim, prepare=tuple(step for step in victim.prepare if step[0] != "!kill"))
    prepared(start, whole, pristine, rng, 0.0)
    old = sign(start)
    rehearsal = where / "rehearsal"
    shutil.rmtree(rehearsal, ignore_errors=True)
    shutil.copytree(start, rehearsal)
    began = time.perf_counter()
    done = run(rehearsal, victim.command)
    if done.code:
        raise SystemExit(f"{victim.name} does not work: {done.said}")
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
    say = partial(print, flush=True)
    found = rounds(where, options.kills, options.seed, options.only, n_docs=options.documents, say=say)
    finish(found, where)


if __name__ == "__main__":
    main()
