"""Is everything that matters tested? Breaks one thing after the other and sees whether a test fails.

    python tools/mutants.py [--own | --drawn] [--near] [--each 3] [--only store] [--seed 0] [--seconds 300]

Two kinds of mutants. Its own list breaks each M-step, guard, check, lock, sync and comparison that a promise of
docs/design/security.md and reliability.md hangs on. Beside it a few places of each module of models, kernels, store and
the explorer's safety are drawn at random: a comparison or its bound, a sign, a factor, a number, a condition, a call.
For each only the near tests are run, and those further away if these notice nothing. Survivors are told; those that are
known with a reason stand in ``KNOWN``.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src") / "topiarist"
FAR = {
    "models": ("tests/models", "tests/estimators/test_adversarial.py"),
    "kernels": ("tests/kernels", "tests/models/test_plsa.py"),
    "store": ("tests/store", "tests/collection/test_forged.py", "tests/collection/test_kills.py"),
    "app": (
        "tests/app/explorer/test_safety.py",
        "tests/app/explorer/test_serving.py",
        "tests/app/explorer/test_query_limits.py",
    ),
}
NEAR = {  # modules, and what is nearest to them
    "models/em.py": "models/test_em.py",
    "models/plsa.py": "models/test_plsa.py",
    "models/cam.py": "models/test_cam.py",
    "models/hplsa.py": "models/test_hplsa.py",
    "models/categorisers.py": "models/test_categorisers.py",
    "models/online.py": "models/test_online.py",
    "models/misfits.py": "models/test_misfits.py",
    "models/drift.py": "models/test_drift.py",
    "models/directions.py": "models/test_directions.py",
    "models/sparse_plsa.py": "models/test_sparse_plsa.py",
    "models/labels/pmm.py": "models/test_pmm.py",
    "kernels/counts/reference.py": "kernels/test_tellings.py",
    "kernels/paths/reference.py": "kernels/test_paths.py",
    "kernels/labels/reference.py": "kernels/test_labels.py",
    "kernels/search/reference.py": "kernels/test_search.py",
    "kernels/active/reference.py": "kernels/test_active.py",
    "kernels/shard.py": "kernels/test_shard.py",
    "store/sealed_folder.py": "store/test_sealed_folder.py",
    "store/generation.py": "store/test_generation.py",
    "store/collection_folder.py": "store/test_collection_folder.py",
    "store/database.py": "store/test_database.py",
    "store/schema.py": "store/test_schema.py",
    "store/document_table.py": "store/test_document_table.py",
    "store/edit_log.py": "store/test_generation.py",
    "store/fulltext.py": "store/test_fulltext.py",
    "store/tensors.py": "store/test_tensors.py",
    "store/column_table.py": "store/test_column_table.py",
    "store/date_table.py": "store/test_date_table.py",
    "store/succession.py": "store/test_faults.py",
    "app/explorer/web/safety.py": "app/explorer/test_safety.py",
    "app/explorer/web/connections.py": "app/explorer/test_serving.py",
}


@dataclass(frozen=True)
class Mutant:
    """One thing that is broken: in a file, what stood there and what stands there now, or the whole text."""

    file: str
    old: str
    new: str
    told: str = ""
    text: str = ""  # of the whole file, where it was changed by its tree
    tests: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As it is listed."""
        return self.told or f"{self.file}: {self.old.strip()[:60]!r} -> {self.new.strip()[:60]!r}"

    def applied(self, text: str) -> str:
        """The broken file."""
        if self.text:
            return self.text
        if text.count(self.old) < 1:
            raise SystemExit(f"{self.file} does not have {self.old!r} any more: mend the list")
        return text.replace(self.old, self.new, 1)


def _own(file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(file, old, new, tests=tuple(f"tests/{one}" for one in tests))


OWN = (
    # M-steps and what EM promises
    _own("models/plsa.py", "stats.word_component_count, self.word_smoothing)", "stats.word_component_count, 0.0)"),
    _own("models/plsa.py", "normalise_rows(doc_count, self.component_smoothing)", "normalise_rows(doc_count, 0.0)"),
    _own("models/plsa.py", "log_likelihood / inverse_temperature +", "log_likelihood +"),
    _own("models/cam.py", "stats.cluster_count / max(", "np.ones_like(stats.cluster_count) / max("),
    _own(
        "models/cam.py", 'if self.node_mix == "heldout":\n            if heldout', "if False:\n            if heldout"
    ),
    _own("models/cam.py", "objective / inverse_temperature, directions)", "objective, directions)"),
    _own("models/cam.py", "words = self.engine.add_outer(words, self.prior_tokens, self.collection)", "pass"),
    _own("models/em.py", "objective = stats.objective + model.log_prior(state.shared)", "objective = stats.objective"),
    _own("models/em.py", "not objective >= loop.objectives[-1] - rules.rounding(objective)", "False"),
    _own(
        "models/categorisers.py",
        "out[here] = np.where(total > 0, out[here] / np.where(total > 0, total, 1), prior)",
        "out[here] = out[here] / total",
        "estimators/test_adversarial.py",
    ),
    _own("kernels/counts/reference.py", "counts[nothing] = 1 / counts.shape[1]", "pass"),
    _own(
        "kernels/counts/reference.py",
        "np.maximum(new + (stride - 1) * (new - old), new / 2, out=out)",
        "np.maximum(new + stride * (new - old), new / 2, out=out)",
    ),
    # what a collection promises
    _own(
        "store/sealed_folder.py",
        "                    os.fsync(file.fileno())\n            os.replace",
        "                    pass\n            os.replace",
        "store/test_synced.py",
    ),
    _own(
        "store/sealed_folder.py",
        "        os.fsync(handle)\n    except",
        "        pass\n    except",
        "store/test_synced.py",
    ),
    _own(
        "store/sealed_folder.py",
        "            os.fsync(file.fileno())\n    for one in inside",
        "            pass\n    for one in inside",
        "store/test_synced.py",
    ),
    _own(
        "store/sealed_folder.py",
        "lock.acquire(timeout=max(wait, _patience.get()), poll_interval=0.02)",
        "pass",
        "store/test_collection_folder.py",
    ),
    _own(
        "store/sealed_folder.py", "    refuse_links(folder / LOCK, folder / WRITER)\n", "", "collection/test_forged.py"
    ),
    _own("store/database.py", '"trusted_schema = OFF",', "", "store/test_synced.py"),
    _own(
        "store/database.py",
        "if odd:\n                known.close()",
        "if False:\n                known.close()",
        "store/test_schema.py",
    ),
    _own("store/database.py", "self.stopped = self.taken >", "self.stopped = 0 * self.taken >", "store/test_schema.py"),
    _own("store/database.py", "if not isinstance(found[0], int):", "if False:", "collection/test_forged.py"),
    _own(
        "store/edit_log.py",
        "if found is None or checksum(found[0]) != found[1]:",
        "if found is None:",
        "collection/test_forged.py",
    ),
    _own(
        "store/generation.py",
        "    if faults:\n        raise DamagedError",
        "    if False:\n        raise DamagedError",
        "store/test_generation.py",
    ),
    _own("store/document_table.py", "or checksum(*values) != checked", "", "store/test_document_table.py"),
    # who is let in
    _own("app/explorer/web/safety.py", 'if "transfer-encoding" in headers:', "if False:"),
    _own("app/explorer/web/safety.py", "if self.door and not (self._has_token", "if False and not (self._has_token"),
    _own("app/explorer/web/safety.py", "if not reads and not same_origin", "if False and not same_origin"),
    _own("app/explorer/web/safety.py", 'return site == "same-origin"', 'return site != "cross-site"'),
    _own("app/explorer/web/safety.py", "int(length) > LARGEST", "False"),
    _own("app/explorer/web/safety.py", 'if headers.get("sec-fetch-site") == "cross-site" and', "if False and"),
    # parsers
    _own("text/extract/worker.py", "        network.leave()\n", "", "text/readers/test_hostile.py"),
    _own("text/extract/worker.py", "        _without_files(hello)\n", "", "text/readers/test_no_files.py"),
    _own("text/extract/worker.py", "        _confine(limits)\n", "", "text/readers/test_hostile.py"),
    # numbers
    _own("counts/validation.py", "data.min() >= SMALLEST", "True", "counts/test_validation.py"),
    # doing it again
    _own(
        "collection/verify/digests.py",
        "        parameters=_of_arrays(parameters(collection).items()),",
        '        parameters="",',
        "collection/verify",
    ),
    _own(
        "collection/verify/verification.py",
        'same = text_digest(collection, number) == known.get("texts")',
        "same = True",
        "collection/verify",
    ),
)
KNOWN: dict[str, str] = {}  # survivors that are no fault of the tests: their name, and why
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def drawn(file: str, number: int, chance: random.Random) -> list[Mutant]:
    """Some places of a module at random, each broken in one way."""
    text = (ROOT / PACKAGE / file).read_text()
    tree = ast.parse(text)
    inside = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    places = [
        (node, place)
        for function in inside
        for body in function.body
        for node in ast.walk(body)
        for place in _ways(node)
    ]
    found = []
    for node, place in chance.sample(places, min(number, len(places))):
        before = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else ""
        undo = _break(node, place)
        after = ast.unparse(node) if before else ""
        changed = ast.unparse(tree)
        undo()
        line = getattr(node, "lineno", 0)
        found.append(Mutant(file, "", "", f"{file}:{line}: {before[:70]} -> {after[:70]}", changed))
    return found


def _ways(node: ast.AST) -> list[str]:
    """How a node can be broken."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        return ["compare"]
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        return ["sign"]
    if isinstance(node, ast.BoolOp):
        return ["logic"]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ["not"]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return ["number"]
    if isinstance(node, ast.If):
        return ["never"]
    return []


def _break(node: ast.AST, way: str):  # type: ignore[no-untyped-def]
    """Break a node; what mends it again."""
    name, value = {
        "compare": lambda: ("ops", [SWAPS[type(node.ops[0])](), *node.ops[1:]]),  # type: ignore[attr-defined]
        "sign": lambda: ("op", SWAPS[type(node.op)]()),  # type: ignore[attr-defined]
        "logic": lambda: ("op", SWAPS[type(node.op)]()),  # type: ignore[attr-defined]
        "not": lambda: ("op", ast.UAdd()),
        "number": lambda: ("value", node.value + 1),  # type: ignore[attr-defined]
        "never": lambda: ("test", ast.Constant(False)),
    }[way]()
    old = getattr(node, name)
    setattr(node, name, value)
    return lambda: setattr(node, name, old)


def killed(mutant: Mutant, where: Path, seconds: float, *, near: bool = False) -> str:
    """Which tests noticed it; nothing where it survived."""
    path = where / PACKAGE / mutant.file
    plain = path.read_text()
    path.write_text(mutant.applied(plain))
    shutil.rmtree(where / "cache", ignore_errors=True)
    try:
        nearest = mutant.tests or (f"tests/{NEAR[mutant.file]}",)
        far = () if near else FAR.get(mutant.file.partition("/")[0], ())
        for tests in (nearest, tuple(one for one in far if one not in nearest)):
            if tests and (ended := _failed(tests, where, seconds)):
                return f"{' '.join(tests)}{ended}"
        return ""
    finally:
        path.write_text(plain)


def _failed(tests: tuple[str, ...], where: Path, seconds: float) -> str:
    """How tests ended that did not pass; nothing where they did. Who goes in circles is noticed by its time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    known = {**os.environ, "PYTHONPATH": str(where / "src"), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=where, env=known, capture_output=True, timeout=seconds, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return f" (no end after {seconds:g} s)"
    said = done.stdout.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 0 else f" ({said[-1] if said else 'no answer'})"


def main() -> None:
    """Break, test, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--own", action="store_true", help="its own list only")
    parser.add_argument("--drawn", action="store_true", help="those that are drawn only")
    parser.add_argument("--near", action="store_true", help="the nearest tests only")
    parser.add_argument("--each", type=int, default=3, help="places of each module")
    parser.add_argument("--only", default="", help="files that begin so")
    parser.add_argument("--skip", type=int, default=0, help="so many that were tried before")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="for the tests of one mutant")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)  # noqa: S311
    wanted = [one for one in OWN if one.file.startswith(asked.only) and not asked.drawn]
    if not asked.own:
        wanted += [
            one for file in NEAR if file.startswith(asked.only) for one in drawn(file, asked.each, chance)
        ]  # fmt: skip
    tally, began = Counter[str](), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="topiarist-mutants-") as folder:
        where = Path(folder)
        for name in ("src", "tests", "tools", "docs", "pyproject.toml", "README.md", "CHANGELOG.md"):
            source = ROOT / name
            shutil.copytree(source, where / name) if source.is_dir() else shutil.copy(source, where / name)
        for number, mutant in enumerate(wanted[asked.skip :], 1 + asked.skip):
            by = killed(mutant, where, asked.seconds, near=asked.near)
            known = KNOWN.get(mutant.name, "")
            kind = mutant.file.partition("/")[0]
            how = "late" if "(no end after" in by else "killed" if by else "known" if known else "SURVIVED"
            tally[f"{kind} {how}"] += 1
            said = f"killed by {by}" if by else f"survives: {known}" if known else "SURVIVED"
            print(f"{number}/{len(wanted)} {mutant.name}: {said}", flush=True)
    dead = sum(times for what, times in tally.items() if what.endswith("killed"))
    counted = sum(times for what, times in tally.items() if not what.endswith(("known", "late")))
    print(", ".join(f"{what}: {times}" for what, times in sorted(tally.items())))
    print(f"{dead} of {counted} mutants killed ({dead / max(counted, 1):.0%}) in {time.perf_counter() - began:.0f} s")
    sys.exit(0 if dead == counted else 1)


if __name__ == "__main__":
    main()
