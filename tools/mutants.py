"""Is everything that matters tested? Breaks one thing after the other and sees whether a test fails.

    python tools/mutants.py [--own | --drawn] [--near] [--each 3] [--only store,kernels/counts] [--seed 0]
        [--processes 2]
    python tools/mutants.py --again LOG [--processes 2]

Two kinds of mutants. Its own list breaks each M-step, guard, check, lock, sync and comparison that a promise of
docs/design/security.md and reliability.md hangs on. Beside it a few places of each module of models, kernels, store and
the explorer's safety are drawn at random: a comparison or its bound, a sign, a factor, a number, a condition, a call.
For each only the near tests are run, and those further away if these notice nothing (``--again`` does that for the
survivors of an earlier run). Tests that fail before anything is broken give no verdict, and that is told. Tests that do
not end in time may run in circles or on a busy machine: the mutant is told as one of *no end*, neither dead nor alive.
Survivors are told; those that are known with a reason stand in ``KNOWN``.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src") / "topiarist"
FAR = {
    "models": ("tests/models", "tests/estimators/test_adversarial.py", "tests/contracts/test_models.py"),
    "kernels": ("tests/kernels", "tests/models/test_plsa.py", "tests/trees/test_growth.py"),
    "storage": (
        "tests/storage",
        "tests/collection/test_forged.py",
        "tests/collection/test_kills.py",
        "tests/execution",
    ),
    "web": (
        "tests/web/test_safety.py",
        "tests/web/test_serving.py",
        "tests/web/test_query_limits.py",
    ),
}
NEAR: dict[str, tuple[str, ...]] = {  # modules, and what is nearest to them
    "models/em.py": ("models/test_em.py",),
    "models/plsa.py": ("models/test_plsa.py", "contracts/test_models.py"),
    "models/cam.py": (
        "models/test_cam.py",
        "models/test_directions.py",
        "contracts/test_models.py",
    ),
    "models/hplsa.py": ("models/test_hplsa.py", "contracts/test_models.py"),
    "models/categorisers.py": ("models/test_categorisers.py", "contracts/test_models.py"),
    "models/online.py": ("models/test_online.py",),
    "models/misfits.py": ("models/test_misfits.py",),
    "models/word_meetings.py": ("models/test_word_meetings.py",),
    "models/directions.py": ("models/test_directions.py",),
    "models/seeds.py": ("estimators/test_chosen_words.py",),
    "models/labels/pmm.py": ("models/test_pmm.py",),
    "models/labels/choice.py": ("models/test_pmm.py",),
    "models/labels/label_sets.py": ("models/test_pmm.py",),
    "models/gaussian/certainties.py": ("estimators/test_ggm_vectors.py",),
    "models/gaussian/covariances.py": ("models/test_ggm.py",),
    "models/gaussian/fits.py": ("models/test_ggm.py", "estimators/test_ggm.py"),
    "models/gaussian/mixture.py": ("models/test_ggm.py",),
    "models/gaussian/overlaps.py": ("models/test_overlaps.py",),
    "models/gaussian/selection.py": ("models/test_ggm.py", "estimators/test_ggm.py"),
    "models/gaussian/starts.py": ("models/test_ggm.py",),
    "models/fisher/matrix.py": ("models/test_fisher.py",),
    "models/fisher/scores.py": ("models/test_fisher.py",),
    "models/engine/host.py": (
        "models/test_plsa.py",
        "models/test_online.py",
        "kernels/test_paths.py",
    ),
    "models/engine/tables.py": ("trees/test_growth.py", "trees/test_headings.py"),
    "models/halves.py": ("trees/test_growth.py",),
    "kernels/__init__.py": ("kernels/test_backends.py", "kernels/test_shard.py"),
    "kernels/cache.py": ("kernels/test_cache.py",),
    "kernels/classes/reference.py": ("models/test_categorisers.py",),
    "kernels/classes/compiled.py": ("models/test_categorisers.py",),
    "kernels/counts/reference.py": ("kernels/test_backends.py",),
    "kernels/counts/compiled.py": ("kernels/test_backends.py",),
    "kernels/gaussians.py": ("kernels/test_gaussians.py",),
    "kernels/labels/__init__.py": ("kernels/test_labels_of_documents.py",),
    "kernels/labels/reference.py": ("kernels/test_labels_of_documents.py", "models/test_pmm.py"),
    "kernels/labels/compiled.py": ("kernels/test_labels_of_documents.py", "models/test_pmm.py"),
    "kernels/paths/reference.py": (
        "kernels/test_paths.py",
        "models/test_cam.py",
    ),
    "kernels/paths/compiled.py": (
        "kernels/test_paths.py",
        "models/test_cam.py",
    ),
    "kernels/search/__init__.py": ("kernels/test_search.py",),
    "kernels/search/reference.py": ("kernels/test_search.py",),
    "kernels/search/compiled.py": ("kernels/test_search.py",),
    "kernels/shard.py": ("kernels/test_shard.py",),
    "storage/array_files.py": ("storage/test_array_files.py",),
    "storage/collection_folder.py": ("storage/test_collection_folder.py",),
    "storage/column_table.py": ("storage/test_column_table.py",),
    "storage/database.py": ("storage/test_database.py", "storage/test_schema.py"),
    "storage/date_table.py": ("storage/test_date_table.py",),
    "storage/document_table.py": ("storage/test_document_table.py", "collection/test_check.py"),
    "storage/edit_log.py": ("storage/test_generation.py", "storage/test_collection_folder.py"),
    "storage/encoding.py": ("estimators/test_model_folder.py",),
    "storage/facts.py": (
        "storage/test_review_table.py",
        "storage/test_date_table.py",
        "storage/test_document_table.py",
    ),
    "storage/fulltext.py": ("storage/test_fulltext.py", "storage/test_unspaced.py"),
    "storage/generation.py": ("storage/test_generation.py",),
    "storage/marks.py": ("storage/test_marks.py",),
    "storage/review_table.py": ("storage/test_review_table.py",),
    "storage/schema.py": ("storage/test_schema.py",),
    "storage/sealed_folder.py": (
        "storage/test_sealed_folder.py",
        "storage/test_synced.py",
        "storage/test_collection_folder.py",
    ),
    "storage/succession.py": ("storage/test_succession.py", "storage/test_faults.py"),
    "storage/tensors.py": ("storage/test_tensors.py",),
    "storage/vocabulary_file.py": ("storage/test_vocabulary_file.py", "estimators/test_model_folder.py"),
    "web/http/safety.py": ("web/test_safety.py",),
    "web/http/connections.py": ("web/test_serving.py",),
    "web/query_limits.py": ("web/test_query_limits.py",),
}
LEFT_OUT = {  # modules of the same rooms in which nothing is drawn, and why
    "kernels/cuda/": "needs a graphics card, or a simulator that takes minutes: tests/kernels/test_cuda.py",
    "models/engine/cuda": "needs a graphics card, or a simulator that takes minutes: tests/models/cuda_cases.py",
    "kernels/jit.py": "how rows are asked for ahead of time: changes speed and no result",
    "models/engine/compilation.py": "whether kernels are compiled yet: changes what is said and no result",
}
ROOMS = ("models", "kernels", "storage")  # every module of these is broken, or left out with a reason
COMPILES = ("prepare",)  # what is called once with anything at all, so that it is compiled
COMPILED = ("kernels/",)  # numba keeps what it has compiled, and does not ask who is called: anew for each mutant
LONGEST = 900.0  # seconds, for tests when nothing is broken
KINDS = ("killed", "SURVIVED", "known", "untold", "no end")  # what becomes of mutants
PATIENCE, SLOWER = 30.0, 6.0  # seconds, and times what tests take when nothing is broken: then they have no end


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
    def nearest(self) -> tuple[str, ...]:
        """The tests that should notice it."""
        return self.tests or tuple(f"tests/{one}" for one in NEAR[self.file])

    @property
    def farther(self) -> tuple[str, ...]:
        """Tests of its room and of rooms above, where the nearest notice nothing."""
        return tuple(one for one in FAR.get(self.file.partition("/")[0], ()) if one not in self.nearest)

    @property
    def known(self) -> str:
        """Why it may survive; nothing if it may not. Lines move, so that they do not count."""
        return KNOWN.get(re.sub(r":\d+: ", ": ", self.name, count=1), "")

    @property
    def name(self) -> str:
        """As it is listed."""
        return self.told or f"{self.file}: {self.old.strip()[:60]!r} -> {self.new.strip()[:60]!r}"

    def applied(self, text: str) -> str:
        """The broken file."""
        if self.text:
            return self.text
        if text.count(self.old) < 1:
            raise LookupError(f"{self.file} does not have {self.old!r} any more: mend the list")
        return text.replace(self.old, self.new, 1)


def _own(file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(file, old, new, tests=tuple(f"tests/{one}" for one in tests))


OWN = (
    # M-steps and what EM promises
    _own("models/plsa.py", "stats.word_component_count, self.word_smoothing)", "stats.word_component_count, 0.0)"),
    _own("models/plsa.py", "normalise_rows(doc_count, self.component_smoothing)", "normalise_rows(doc_count, 0.0)"),
    _own("models/plsa.py", "log_likelihood / inverse_temperature +", "log_likelihood +"),
    _own("models/cam.py", "stats.cluster_count / max(", "np.ones_like(stats.cluster_count) / max("),
    _own("models/cam.py", 'teaches = heldout is not None and self.node_mix == "heldout"', "teaches = False"),
    _own("models/cam.py", "objective / inverse_temperature, directions)", "objective, directions)"),
    _own("models/cam.py", "words = self.engine.add_outer(words, self.prior_tokens, self.collection)", "pass"),
    _own("models/em.py", "objective = stats.objective + model.log_prior(state.shared)", "objective = stats.objective"),
    _own("models/em.py", "not objective >= loop.objectives[-1] - rules.rounding(objective)", "False"),
    _own(
        "models/categorisers.py",
        "out[here] = np.where(total > 0, out[here] / np.where(total > 0, total, 1), prior)",
        "out[here] = out[here] / total",
    ),
    _own("kernels/counts/reference.py", "counts[nothing] = 1 / counts.shape[1]", "pass"),
    _own(
        "kernels/counts/reference.py",
        "np.maximum(new + (stride - 1) * (new - old), new / 2, out=out)",
        "np.maximum(new + stride * (new - old), new / 2, out=out)",
    ),
    # what a collection promises
    _own(
        "storage/sealed_folder.py",
        "                    os.fsync(file.fileno())\n            os.replace",
        "                    pass\n            os.replace",
        "storage/test_synced.py",
    ),
    _own(
        "storage/sealed_folder.py",
        "        os.fsync(handle)\n    except",
        "        pass\n    except",
        "storage/test_synced.py",
    ),
    _own(
        "storage/sealed_folder.py",
        "            os.fsync(file.fileno())\n    for one in inside",
        "            pass\n    for one in inside",
        "storage/test_synced.py",
    ),
    _own(
        "storage/sealed_folder.py",
        "lock.acquire(timeout=max(wait, _patience.get()), poll_interval=0.02)",
        "pass",
        "storage/test_collection_folder.py",
    ),
    _own(
        "storage/sealed_folder.py",
        "    refuse_links(folder / LOCK, folder / WRITER)\n",
        "",
        "collection/test_forged.py",
    ),
    _own("storage/database.py", '"trusted_schema = OFF",', "", "storage/test_synced.py"),
    _own(
        "storage/database.py",
        "if odd:\n                known.close()",
        "if False:\n                known.close()",
        "storage/test_schema.py",
    ),
    _own(
        "storage/database.py",
        "self.stopped = self.taken >",
        "self.stopped = 0 * self.taken >",
        "storage/test_schema.py",
    ),
    _own("storage/database.py", "if not isinstance(found[0], int):", "if False:", "collection/test_forged.py"),
    _own(
        "storage/edit_log.py",
        "if found is None or checksum(found[0]) != found[1]:",
        "if found is None:",
        "storage/test_generation.py",
    ),
    _own(
        "storage/generation.py",
        "    if faults:\n        raise DamagedError",
        "    if False:\n        raise DamagedError",
        "storage/test_generation.py",
    ),
    _own("storage/document_table.py", "or checksum(*values) != checked", "", "collection/test_check.py"),
    # who is let in
    _own("web/http/safety.py", 'if "transfer-encoding" in headers:', "if False:"),
    _own("web/http/safety.py", "if self.door and not (self._has_token", "if False and not (self._has_token"),
    _own("web/http/safety.py", "if not reads and not same_origin", "if False and not same_origin"),
    _own("web/http/safety.py", 'return site == "same-origin"', 'return site != "cross-site"'),
    _own("web/http/safety.py", "int(length) > LARGEST", "False"),
    _own("web/http/safety.py", 'if headers.get("sec-fetch-site") == "cross-site" and', "if False and"),
    # parsers
    _own("text/parsers/worker.py", "        sandbox.drop_network_access()\n", "", "text/readers/test_hostile.py"),
    _own("text/parsers/worker.py", "        _without_files(hello)\n", "", "text/readers/test_no_files.py"),
    _own("text/parsers/worker.py", "        _confine(limits)\n", "", "text/readers/test_hostile.py"),
    # numbers
    _own("counts/validation.py", "smallest >= MIN_COUNT", "True", "counts/test_validation.py"),
)
KNOWN: dict[str, str] = {  # survivors that are no fault of the tests: their name without the line, and why
    "models/gaussian/covariances.py: n_dims <= TABLE_DIMENSIONS -> n_dims < TABLE_DIMENSIONS": (
        "which of two ways is taken at the limit: both give the same covariances"
    ),
    'storage/document_table.py: 0 -> 1 at 50 of return ("", "") if found is None or foun': (
        "the first of some dates is nothing where the last is, and only there"
    ),
    'storage/fulltext.py: 8 -> 9 at 72 of start, end = f"<{secrets.token_hex(8)}>"': (
        "marks that stand in no text are longer by a letter"
    ),
    "kernels/classes/compiled.py: 1.0 -> 2.0 at 89 of leap = min(max(1.0, np.sqrt(first / bend": (
        "steps without any curve are those that move nothing: a leap of any length stays there"
    ),
    "models/online.py: 1.0 -> 2.0 at 15 of if rate == 1.0:": (
        "of what was before nothing is left: the longer way gives the same but for the last digit"
    ),
    "models/directions.py: length > TINY -> length >= TINY": "no vector is exactly 1e-300 long",
    "kernels/labels/compiled.py: 1 -> 2 at 80 of here = (indices[indptr[d] : indptr[d + 1": (
        "the slice of counts is longer than that of words, and read as far as those go"
    ),
}
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def drawn(file: str, number: int, chance: random.Random) -> list[Mutant]:
    """Some places of a module at random, each broken in one way."""
    text = (ROOT / PACKAGE / file).read_text()
    tree, lines = ast.parse(text), text.splitlines()
    inside = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = [one for one in inside if one.name not in COMPILES]
    nodes = {id(node): node for function in inside for body in function.body for node in ast.walk(body)}
    places = [(node, place) for node in nodes.values() for place in _ways(node)]
    found = []
    for node, place in chance.sample(places, min(number, len(places))):
        before = " ".join(ast.unparse(node).split())
        undo = _break(node, place)
        after = " ".join(ast.unparse(node).split())
        changed = ast.unparse(tree)
        undo()
        line = getattr(node, "lineno", 0)
        if place == "number":  # one of many such numbers
            after += f" at {node.col_offset} of {lines[line - 1].strip()[:40]}"
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


@dataclass(frozen=True)
class Verdict:
    """How tests ended: whether all passed, what they said at last, how long they took; or that they had no end."""

    passed: bool
    said: str
    seconds: float
    ended: bool = True


class Tree:
    """A copy of the sources in which things are broken, one at a time."""

    def __init__(self, where: Path) -> None:
        self.where = where
        for name in ("src", "tests", "tools", "docs", "benchmarks", "pyproject.toml", "README.md", "CHANGELOG.md"):
            source = ROOT / name
            shutil.copytree(source, where / name) if source.is_dir() else shutil.copy(source, where / name)

    def tested(self, tests: tuple[str, ...], seconds: float, compiled: Path | None = None) -> Verdict:
        """Run tests until one fails."""
        how = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0")
        command = [sys.executable, "-m", "pytest", *how, *tests]
        paths = [str(self.where / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        known = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
        known |= {"PYTHONDONTWRITEBYTECODE": "1", **({"NUMBA_CACHE_DIR": str(compiled)} if compiled else {})}
        began = time.perf_counter()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, cwd=self.where, env=known, start_new_session=True, **pipes) as child:  # type: ignore[call-overload]  # noqa: S603
            try:
                said, _ = child.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)  # its servers and workers too
                return Verdict(False, f"no end after {seconds:.0f} s", seconds, ended=False)
        lines = said.decode(errors="replace").strip().splitlines()
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        told = (failed or lines or ["no answer"])[-1]
        return Verdict(child.returncode == 0, told[:300], time.perf_counter() - began)

    def broken(self, mutant: Mutant, tests: tuple[str, ...], seconds: float) -> Verdict:
        """Run tests while something is broken."""
        path = self.where / PACKAGE / mutant.file
        plain = path.read_text()
        path.write_text(mutant.applied(plain))
        try:
            with tempfile.TemporaryDirectory(prefix="topiarist-compiled-") as folder:
                anew = Path(folder) if mutant.file.startswith(COMPILED) else None
                return self.tested(tests, seconds, anew)
        finally:
            path.write_text(plain)


class Trees:
    """As many copies of the sources as are worked in at a time, and how tests end in them when nothing is broken."""

    def __init__(self, where: Path, number: int) -> None:
        self.free: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        for place in range(number):
            self.free.put(Tree(where / str(place)))
        self.known: dict[tuple[str, ...], Future[Verdict]] = {}
        self.guard = threading.Lock()

    def do(self, work: Callable[[Tree], Verdict]) -> Verdict:
        """Work in the next copy that is free."""
        tree = self.free.get()
        try:
            return work(tree)
        finally:
            self.free.put(tree)

    def plain(self, tests: tuple[str, ...]) -> Verdict:
        """How tests end when nothing is broken: run by the first who asks."""
        with self.guard:
            first = tests not in self.known
            answer = self.known.setdefault(tests, Future())
        if first:
            try:
                answer.set_result(self.do(lambda tree: tree.tested(tests, LONGEST)))
            except BaseException as error:  # others wait for the answer
                answer.set_exception(error)
                raise
        return answer.result()


def judged(mutant: Mutant, trees: Trees, rounds: list[tuple[str, ...]]) -> str:
    """What became of a mutant: one of ``KINDS``, and why."""
    untold, endless = [], []
    try:
        mutant.applied((ROOT / PACKAGE / mutant.file).read_text())
    except LookupError as error:
        return f"untold: {error}"
    for tests in rounds:
        before = trees.plain(tests)
        if not before.passed:
            untold.append(f"{' '.join(tests)} ({before.said})")
            continue
        seconds = PATIENCE + SLOWER * before.seconds
        after = trees.do(lambda tree, tests=tests, seconds=seconds: tree.broken(mutant, tests, seconds))  # type: ignore[misc]
        if not after.ended:
            endless.append(f"{' '.join(tests)} ({after.said})")
        elif not after.passed:
            return f"killed by {' '.join(tests)} ({after.said})"
    if endless:
        return f"no end: {'; '.join(endless)}"
    if untold:
        return f"untold: fails although nothing is broken: {'; '.join(untold)}"
    return f"known: {mutant.known}" if mutant.known else "SURVIVED"


def tallied(answers: Iterable[tuple[str, str]]) -> tuple[str, bool]:
    """How many mutants of each room came to what, of those that live or are dead how many; and whether none lives."""
    kinds = [(file.partition("/")[0], next(kind for kind in KINDS if said.startswith(kind))) for file, said in answers]
    found = Counter(kinds)
    of_kind = {kind: sum(times for (_, own), times in found.items() if own == kind) for kind in KINDS}
    dead, lives = of_kind["killed"], of_kind["SURVIVED"]
    rooms = ", ".join(f"{room} {kind}: {times}" for (room, kind), times in sorted(found.items()))
    endless = f", {of_kind['no end']} of no end" if of_kind["no end"] else ""
    return f"{rooms}\n{dead} of {dead + lives} mutants killed ({dead / max(dead + lives, 1):.0%}){endless}", not lives


def wanted(asked: argparse.Namespace) -> list[Mutant]:
    """The mutants that were asked for; those of a module are the same whatever else is asked for."""
    only = tuple(asked.only.split(","))
    found = [one for one in OWN if one.file.startswith(only) and not asked.drawn]
    if not asked.own:
        for file in NEAR:
            if file.startswith(only):
                found += drawn(file, asked.each, random.Random(f"{asked.seed} {file}"))  # noqa: S311
    if asked.again:
        survived = re.findall(r"^\d+/\d+ (.*): (?:SURVIVED$|no end: )", asked.again.read_text(), re.MULTILINE)
        found = [one for one in found if one.name.startswith(tuple(survived))] if survived else []
    turns = Counter[str]()
    order = {}
    for one in found:  # all modules in turn
        order[one] = turns[one.file]
        turns[one.file] += 1
    return sorted(found, key=order.__getitem__)[asked.skip :]


def answered(mutants: list[Mutant], verdict: Callable[[Mutant], str], processes: int) -> list[tuple[str, str]]:
    """The file of each mutant and what became of it, told as soon as it is known; after an error no other is begun."""
    answers = list[tuple[str, str]]()
    pool = ThreadPoolExecutor(processes)
    try:
        waiting = {pool.submit(verdict, one): one for one in mutants}
        for number, done in enumerate(as_completed(waiting), 1):
            mutant, said = waiting[done], done.result()
            answers.append((mutant.file, said))
            print(f"{number}/{len(mutants)} {mutant.name}: {said}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return answers


def main() -> None:
    """Break, test, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--own", action="store_true", help="its own list only")
    parser.add_argument("--drawn", action="store_true", help="those that are drawn only")
    parser.add_argument("--near", action="store_true", help="the nearest tests only")
    parser.add_argument("--each", type=int, default=3, help="places of each module")
    parser.add_argument("--only", default="", help="files that begin so, or so: with a comma between")
    parser.add_argument("--skip", type=int, default=0, help="so many that were tried before")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="mutants at a time")
    parser.add_argument("--again", type=Path, help="survivors and no ends of this log, by tests further away or --near")
    asked = parser.parse_args()
    mutants, began = wanted(asked), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="topiarist-mutants-") as folder:
        trees = Trees(Path(folder), asked.processes)

        def verdict(one: Mutant) -> str:
            rounds = [] if asked.again and not asked.near else [one.nearest]
            rounds += [] if asked.near else [(further,) for further in one.farther]
            return judged(one, trees, rounds)

        answers = answered(mutants, verdict, asked.processes)
    told, all_dead = tallied(answers)
    print(f"{told} in {time.perf_counter() - began:.0f} s")
    sys.exit(0 if all_dead else 1)


if __name__ == "__main__":
    main()
