"""Collections that somebody has changed: looked at by everything that reads, thousands of times.

    python tools/fuzz_folders.py --mutants 500 --seed 0

Half of the mutants are plain (bits, blocks, ends that are gone, anywhere), half are forged: somebody who can count has
made checksums and digests fit again. ``check`` must answer each without an exception, whoever looks gets an answer or
an error in words with an exit code from 0 to 5, nothing takes longer than ten seconds of the processor (or a minute of
waiting), and no file outside is opened.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.errors import TopiaristError
from topiarist.storage.edit_log import checksum
from topiarist.text.demo import demo_documents

LONGEST, PATIENCE = 10, 60  # seconds of the processor, and by the clock: other work on the machine is no fault of ours
N_DOCS, N_WORDS = 150, 40
ODD: tuple[Any, ...] = (None, -1, 0, 1, 2**31, 2**63, 1e308, "", "x", "../..", "\0", [], {}, [[]], True, "NaN", 0.5)
LOOKS = (
    lambda one: one.tree, lambda one: one.counts, lambda one: one.shares, lambda one: one.model,
    lambda one: one.search("model data"), lambda one: one.search("model", by="words"), lambda one: one.settings,
    lambda one: one.documents.get(0), lambda one: list(one.file(["a model of data"])), lambda one: one.categories,
)  # fmt: skip


def main() -> None:
    """Make mutants and look at each; leave with 1 if any of them got through."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance, found, faults = random.Random(asked.seed), Counter[str](), 0  # noqa: S311
    sys.addaudithook(_watched)
    warnings.simplefilter("ignore")
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _too_long)
    with tempfile.TemporaryDirectory() as folder:
        original, path = Path(folder) / "original.topiary", Path(folder) / "mutant.topiary"
        some = (replace(one, text=" ".join(one.text.split()[:N_WORDS])) for one in islice(demo_documents(), N_DOCS))
        Collection.grow(list(some), original, Recipe(topics=4, headings=False)).close()
        began, slowest = time.perf_counter(), 0.0
        for number in range(asked.mutants):
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(original, path)
            kind = "plain" if number % 2 else "forged"
            what = (plain if number % 2 else forged)(path, chance)
            start = time.process_time()
            try:
                found[f"{kind}, exit {looked(path)}"] += 1
            except Exception as error:
                faults += 1
                where = [f"{Path(at.filename).name}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)]
                print(f"mutant {number} of seed {asked.seed}: {what}: {type(error).__name__}: {str(error)[:200]}")
                print(f"    {' '.join(where[-6:])}", flush=True)
            slowest = max(slowest, time.process_time() - start)
            if (number + 1) % 500 == 0:
                print(f"{number + 1:,} mutants, {faults} got through", flush=True)
    took = time.perf_counter() - began
    told = ", ".join(f"{name}: {times}" for name, times in sorted(found.items()))
    print(f"{asked.mutants:,} mutants in {took:.0f} s, the slowest {slowest:.1f} s of the processor; {told}")
    print(f"{faults} got through")
    sys.exit(1 if faults else 0)


def plain(path: Path, chance: random.Random) -> str:
    """Damage as disks do it."""
    file = chance.choice(sorted(one for one in path.rglob("*") if one.is_file() and one.stat().st_size))
    content = bytearray(file.read_bytes())
    at, size = chance.randrange(len(content)), chance.choice((1, 16, 512, 4096, 65536))
    kind = chance.choice(("bit", "zeros", "noise", "end", "twice"))
    if kind == "bit":
        content[at] ^= 1 << chance.randrange(8)
    elif kind == "end":
        del content[at:]
    elif kind == "twice":
        content[at:at] = content[at : at + size]
    else:
        size = min(size, len(content) - at)
        content[at : at + size] = bytes(size) if kind == "zeros" else chance.randbytes(size)
    file.write_bytes(content)
    return f"{kind} in {file.relative_to(path)} at {at}"


def forged(path: Path, chance: random.Random) -> str:
    """Damage of somebody who makes everything fit again."""
    generation = next(path.glob("g-*"))
    if chance.random() < 0.4:
        return _forged_cell(generation / "documents.sqlite", chance)
    parts = sorted(one.parent for one in generation.glob("*/part.json"))
    part = chance.choice(parts)
    files = sorted(one for one in part.rglob("*") if one.is_file() and one.name != "part.json" and one.stat().st_size)
    file = chance.choice(files)
    if file.suffix == ".json" and chance.random() < 0.8:
        body = json.loads(file.read_text())
        where = _changed(body, chance)
        if file.name in ("manifest.json", "model.json", "index.json") and isinstance(body, dict):
            body.pop("sha256", None)
            body["sha256"] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        file.write_text(json.dumps(body))
    else:
        content = bytearray(file.read_bytes())
        at = chance.randrange(min(len(content), 400) if chance.random() < 0.5 else len(content))
        content[at : at + 8] = chance.randbytes(min(8, len(content) - at))
        file.write_bytes(content)
        where = f"at {at}"
    _reseal(part)
    return f"forged {file.relative_to(path)} {where}"


def _forged_cell(path: Path, chance: random.Random) -> str:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        table = chance.choice([name for (name,) in connection.execute(named)])
        column = chance.choice([row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
        value = chance.choice([one if isinstance(one, int | float | str | None) else str(one) for one in ODD])
        with suppress(sqlite3.Error):
            wanted = f"UPDATE {table} SET {column} = ?"  # noqa: S608
            connection.execute(wanted, (value if value != 2**63 else 2**62,))
            for number, body in connection.execute("SELECT number, body FROM states").fetchall():
                if isinstance(body, str):
                    connection.execute("UPDATE states SET checksum = ? WHERE number = ?", (checksum(body), number))
    return f"forged {table}.{column} = {value!r}"


def _changed(body: Any, chance: random.Random) -> str:
    """Put something odd at some place of a value."""
    where = []
    while True:
        keys = list(body) if isinstance(body, dict) else list(range(len(body)))
        if not keys:
            return f"nothing at {where}"
        key = chance.choice(keys)
        where.append(key)
        if isinstance(body[key], dict | list) and body[key] and chance.random() < 0.7:
            body = body[key]
            continue
        if chance.random() < 0.2:
            del body[key]
        else:
            body[key] = chance.choice(ODD)
        return f"at {where}"


def _reseal(part: Path) -> None:
    """Make the lists of files and the database vouch for what is there now."""
    for manifest in sorted(part.rglob("*.json"), key=lambda one: -len(one.parts)):
        body = None
        with suppress(ValueError):
            body = json.loads(manifest.read_text()) if manifest.name in ("manifest.json", "model.json") else None
        if isinstance(body, dict) and isinstance(body.get("files"), dict):
            _refresh(body["files"], manifest.parent)
            body.pop("sha256", None)
            body["sha256"] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
            manifest.write_text(json.dumps(body))
    listed = json.loads((part / "part.json").read_text())
    _refresh(listed["files"], part)
    text = json.dumps(listed, indent=1, sort_keys=True) + "\n"
    (part / "part.json").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    with closing(sqlite3.connect(part.parent / "documents.sqlite")) as connection, connection:
        connection.execute("UPDATE parts SET digest = ? WHERE name = ?", (digest, part.name))


def _refresh(files: dict[str, Any], folder: Path) -> None:
    for name in files:
        if isinstance(name, str) and (folder / name).is_file():
            content = (folder / name).read_bytes()
            files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


_inside: list[str] = []


def _watched(event: str, given: tuple[Any, ...]) -> None:
    """Nothing outside is opened for writing while a mutant is looked at, and nothing that a mutant could have named."""
    if event == "open" and _inside and isinstance(given[0], str) and isinstance(given[1], str):
        writes = set(given[1]) & set("wax+")
        if writes and not given[0].startswith((_inside[0], "/dev/", tempfile.gettempdir())):
            raise AssertionError(f"{given[0]} was opened")


def looked(path: Path) -> int:
    """Check it and look at everything; the exit code that a command would leave with."""
    signal.alarm(PATIENCE)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    _inside.append(str(path))
    try:
        damaged = any(one.severity == "error" for one in check_folder(path))
        try:
            with Collection.open(path) as collection:
                for look in LOOKS:
                    look(collection)
        except TopiaristError as error:
            return error.exit_code
        return 4 if damaged else 0
    finally:
        _inside.clear()
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"longer than {LONGEST} s of the processor, or than {PATIENCE} s")


if __name__ == "__main__":
    main()
