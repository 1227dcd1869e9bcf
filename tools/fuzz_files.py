"""Files that somebody has damaged, of every kind that is read: each is a document or is told, and nothing falls over.

    python tools/fuzz_files.py --files 100000 [--seed 0] [--only .parquet] [--pile FOLDER]

The files of the torture pile are changed at random (bits, bytes, pieces that are gone, twice or of another file, ends
that are cut, numbers that are huge), some hundred at a time, and read as a folder. Reading must end without an error,
with at least one document or problem for each file; texts must be storable; no folder may take longer than its files.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from tests.text.readers.torture import build  # noqa: E402
from trials import finish  # noqa: E402

from topiarist.text.readers import Limits, read  # noqa: E402
from topiarist.text.readers.making import to_storable  # noqa: E402

TOGETHER, LARGEST = 2_000, 60_000  # files in a folder, and bytes of one that is changed
NUMBERS = (b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff", b"99999999999999999999", b"-1", b"1e999")
NUMBER = re.compile(r"mutants/(\d{4})")
SECONDS = 20  # for one file, as a reader of ours would be told


def mutant(content: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """A changed file."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        if not made:
            break
        at, size = chance.randrange(len(made)), chance.choice((1, 2, 4, 16, 200))
        kind = chance.randrange(8)
        if kind == 0:
            made[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            made[at : at + size] = chance.randbytes(size)
        elif kind == 2:
            del made[at : at + size]
        elif kind == 3:
            made[at:at] = made[at : at + size] * chance.choice((1, 2, 50))
        elif kind == 4:
            other = chance.choice(others)
            start = chance.randrange(len(other)) if other else 0
            made[at : at + size] = other[start : start + size]
        elif kind == 5:
            del made[at:]
        elif kind == 6:
            made[at : at + 4] = chance.choice(NUMBERS)
        else:
            made[at : at + size] = bytes(size)
    return bytes(made)


def rounds(
    where: Path, number: int, seed: int, pile: Path | None = None, only: str = ""
) -> tuple[Counter[str], list[str], float]:
    """Change and read so many files; what they became, what was wrong, and how long the slowest folder took."""
    chance, tally, wrong, slowest = random.Random(seed), Counter[str](), list[str](), 0.0  # noqa: S311
    pile = pile or build(where / "pile")
    seeds = [
        (one.suffix, one.read_bytes())
        for one in sorted(pile.rglob("*"))
        if one.is_file() and not one.is_symlink() and 0 < one.stat().st_size <= LARGEST and one.name.endswith(only)
    ]
    contents = [content for _, content in seeds]
    folder, done = where / "mutants", 0
    limits = Limits(seconds=SECONDS)
    while done < number:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for n in range(min(TOGETHER, number - done)):
            suffix, content = chance.choice(seeds)
            (folder / f"{n:04}{suffix}").write_bytes(mutant(content, contents, chance))
        began = time.perf_counter()
        told = set[str]()
        try:
            with read(folder, limits=limits) as documents:
                for one in documents:
                    told |= set(NUMBER.findall(one.source))
                    tally["documents"] += 1
                    if to_storable(one.text) != one.text or to_storable(one.id) != one.id:
                        wrong.append(f"{one.source}: a text that cannot be stored")
                for problem in documents.problems:
                    tally["problems"] += 1
                    told |= set(NUMBER.findall(problem.source))
        except Exception as error:
            kept = where / f"fault-{done}"
            shutil.copytree(folder, kept)
            wrong.append(f"{type(error).__name__}: {str(error)[:300]} [{kept}]")
        slowest = max(slowest, time.perf_counter() - began)
        silent = {one.name for one in folder.iterdir() if one.stat().st_size and one.name[:4] not in told}
        tally["neither"] += len(silent)
        tally.update(f"neither, {Path(name).suffix}" for name in silent)
        done += TOGETHER
        if done % (5 * TOGETHER) == 0:
            print(f"{done:,} files, {len(wrong)} wrong", flush=True)
    return tally, wrong, slowest


def main() -> None:
    """Change and read, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="files whose names end so")
    parser.add_argument("--pile", type=Path, help="files to change; without it those of the torture pile, made anew")
    asked = parser.parse_args()
    began, where = time.perf_counter(), Path(tempfile.mkdtemp(prefix="topiarist-files-"))
    tally, wrong, slowest = rounds(where, asked.files, asked.seed, asked.pile, asked.only)
    told = ", ".join(f"{name}: {number:,}" for name, number in sorted(tally.items()))
    took = time.perf_counter() - began
    print(f"{asked.files:,} files in {took:.0f} s, the slowest {TOGETHER} of them {slowest:.1f} s; {told}")
    finish(wrong, where)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
