"""Faults of the system at every call that writers of ``store`` make, SQLite's own included: ``make fuzz``.

    python tools/fuzz_calls.py [--only edit] [--faults KILL,EIO] [--most 100000] [--seed 0]

What ``tests/storage/test_faults.py`` lets fail are calls of Python; SQLite asks the system by itself. Here strace lets
a call of a forked writer fail, whoever makes it: each open, write, sync, rename, link, removal and new folder in turn,
with each error that it may have, once and from then on; or the writer is killed there. Afterwards the collection is
what it was or what it should become, a check finds nothing wrong, nobody speaks of damage, and the same writer
succeeds. Needs Linux and strace.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from tests.small import grown  # noqa: E402
from tests.storage.test_faults import WRITERS, check_store, seen  # noqa: E402
from trials import finish  # noqa: E402

from topiarist.errors import TopiaristError  # noqa: E402
from topiarist.storage.collection_folder import Folder  # noqa: E402

OPENS = ("openat",)
OTHERS = (
    "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate", "rename", "renameat", "renameat2", "mkdir",
    "mkdirat", "link", "linkat", "unlink", "unlinkat", "rmdir",
)  # fmt: skip
FAULTS = dict.fromkeys(OTHERS, ("EIO", "ENOMEM", "ENOSPC"))
FAULTS |= dict.fromkeys(OPENS, ("EMFILE", "EIO", "ENOMEM", "ENOSPC"))
KILL = "KILL"
LONGEST = 30.0  # seconds
DONE, TOLD, OF_SYSTEM, OF_DAMAGE, OUR_OWN = 0, 5, 6, 4, 70  # how a writer may end
REFUSED = 200  # strace may not look at it


def asked(path: Path, write: Callable[[Any], None], inject: str, log: Path) -> int | None:
    """Write in a process of its own, one of whose calls fails; how it ended, None where it hung."""
    child = os.fork()
    if not child:
        _written(path, write)
    os.waitpid(child, os.WUNTRACED)
    command = ["strace", "-f", "-y", "-o", str(log), "-e", f"trace={','.join(FAULTS)}", "-p", str(child)]
    with subprocess.Popen([*command, *(["-e", inject] if inject else [])], stderr=subprocess.PIPE) as tracer:  # noqa: S603
        assert tracer.stderr is not None  # noqa: S101
        if b"attached" not in (said := tracer.stderr.readline()):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            print(f"strace may not look at other processes here: {said.decode().strip()}")
            return REFUSED
        os.kill(child, signal.SIGCONT)
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return None


def _written(path: Path, write: Callable[[Any], None]) -> None:
    """In the child: nothing comes back from here, and it waits until somebody looks."""
    code = OUR_OWN
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.kill(os.getpid(), signal.SIGSTOP)
        folder = Folder.open(path)
        write(folder)
        folder.close()
        code = DONE
    except TopiaristError as error:
        code = OF_DAMAGE if "damage" in str(error) else TOLD
    except OSError:
        code = OF_SYSTEM
    finally:
        os._exit(code)


def place(log: str, call: str, of: str, which: int) -> int:
    """The number of a call among all of its name in a log: the ``which``-th whose line has this pattern."""
    lines = re.findall(rf"^\d+\s+({call}\(.*)", log, re.MULTILINE)
    return [number for number, line in enumerate(lines, 1) if re.search(of, line)][which]


def injections(calls: Counter[str], faults: frozenset[str]) -> list[tuple[str, str]]:
    """Every fault at every call: its name, and what strace is told."""
    found = []
    for call, times in sorted(calls.items()):
        for number in range(1, times + 1):
            found += [
                (call, f"inject={call}:error={fault}:when={number}{further}")
                for fault in FAULTS[call] if fault in faults for further in ("", "+")
            ]  # fmt: skip
            if KILL in faults:
                found.append((KILL, f"inject={call}:signal={KILL}:when={number}"))
    return found


def rounds(where: Path, only: str, faults: frozenset[str], most: int, seed: int) -> tuple[list[str], Counter[str]]:
    """All writers, all calls, all faults (or as many of a writer as ``most``); what was found, and the tally."""
    chance, tally, wrong = random.Random(seed), Counter[str](), list[str]()  # noqa: S311
    original, path, log = where / "original.topiary", where / "mail.topiary", where / "calls"
    grown(original).close()
    before = seen(original)
    for name, write in ((name, write) for name, write in WRITERS.items() if name.startswith(only)):
        _fresh(original, path)
        if (code := asked(path, write, "", log)) != DONE:
            raise SystemExit(f"{name} does not work while somebody looks: {code}")
        after, calls = seen(path), Counter(re.findall(r"^\d+\s+(\w+)\(", log.read_text(), re.MULTILINE))
        plan = injections(calls, faults)
        for call, inject in plan if len(plan) <= most else chance.sample(plan, most):
            _fresh(original, path)
            code = asked(path, write, inject, log)
            tally[f"{call}: {code}"] += 1
            found = list(faults_after(path, write, code, before, after))
            wrong += [f"{name}, {inject}: {one}" for one in found]
            if found:
                print(f"WRONG {wrong[-1]}", flush=True)
        print(f"{name}: {dict(calls)}, {len(plan):,} faults", flush=True)
    return wrong, tally


def _fresh(original: Path, path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(original, path)


def faults_after(path: Path, write: Callable[[Any], None], code: int | None, before: Any, after: Any) -> list[str]:
    """Everything that is wrong after a writer one of whose calls failed."""
    found = [] if code in (DONE, TOLD, OF_SYSTEM, -signal.SIGKILL) else [f"ended with {code}"]
    try:
        now = seen(path)
        if now not in (before, after):
            found.append("neither what it was nor what it should become")
        if code == DONE and now != after:
            found.append("said that it was done, and it is not")
        found += [f"check: {one.what}" for one in check_store(path) if one.severity == "error"]
        if now == before:
            folder = Folder.open(path)
            write(folder)
            folder.close()
            found += [] if seen(path)[0] == after[0] else ["the next attempt makes something else"]
    except (TopiaristError, OSError) as error:
        found.append(f"{type(error).__name__}: {str(error)[:200]}")
    return found


def main() -> None:
    """Let every call fail, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="writers that begin so")
    parser.add_argument("--faults", default="KILL,EMFILE,ENOMEM,EIO,ENOSPC", help="which of them")
    parser.add_argument("--most", type=int, default=100_000, help="faults of a writer; all without it")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if shutil.which("strace") is None:
        print("left out: there is no strace here")
        return
    began, where = time.perf_counter(), Path(tempfile.mkdtemp(prefix="topiarist-calls-"))
    faults = frozenset(given.faults.split(","))
    wrong, tally = rounds(where, given.only, faults, given.most, given.seed)
    for what, times in sorted(tally.items()):
        print(f"{times:6,} {what}")
    print(f"{sum(tally.values()):,} calls failed in {time.perf_counter() - began:.0f} s")
    finish(wrong, where)


if __name__ == "__main__":
    main()
