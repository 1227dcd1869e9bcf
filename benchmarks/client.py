"""The other end of ``worker.py``: starts a system's process and speaks JSON lines with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from benchmarks.paths import CACHE, REPOSITORY, peer_python
from benchmarks.systems import SYSTEMS

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class PeerError(RuntimeError):
    """A system could not do what was asked; the message is its own."""


class Client:
    """A running system. Use as a context manager; the process ends with it."""

    def __init__(self, name: str, n_threads: int, variables: dict[str, str] | None = None) -> None:
        self.name = name
        self.system = SYSTEMS[name]
        folder = CACHE / "work" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        python = sys.executable if self.system.own_environment else peer_python()
        environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(n_threads))
        environment |= {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python", "PYTHONPATH": str(REPOSITORY)}
        environment |= variables or {}
        self._log = (folder / "stderr.txt").open("w")
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=folder,
            env=environment,
            text=True,
        )

    def stream(self, action: str, **arguments: object) -> Iterator[dict]:
        """Send a request and yield its replies as they come; raise what the system reports as an error."""
        try:
            print(json.dumps({"do": action, **arguments}), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise PeerError(self._last_words()) from None
        for line in self._process.stdout:
            reply = json.loads(line)
            if "done" in reply:
                return
            if "error" in reply:
                next(self._process.stdout, None)
                raise PeerError(reply["error"])
            yield reply
        raise PeerError(self._last_words())

    def ask(self, action: str, **arguments: object) -> dict:
        """Send a request that has one reply and return it."""
        (reply,) = self.stream(action, **arguments)
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def _last_words(self) -> str:
        self._process.wait()
        self._log.flush()
        lines = (CACHE / "work" / self.name / "stderr.txt").read_text().strip().splitlines()
        last = lines[-1].replace(f"{REPOSITORY}/", "") if lines else "nothing was said"
        return f"process ended with {self._process.returncode}: {last}"
