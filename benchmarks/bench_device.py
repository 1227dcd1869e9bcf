"""A CUDA device against two threads of its host.

The lines are those of ``device_pass.py``: measured here where there is a device, else those that were kept in
``device.jsonl`` on a machine that has one (``python benchmarks/device_pass.py > benchmarks/device.jsonl``).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks import bars
from benchmarks.findings import Findings
from benchmarks.settings import Settings

SCRIPT = Path(__file__).with_name("device_pass.py")
VISITING = "blocks larger than the memory allowed"
KEPT = Path(__file__).with_name("device.jsonl")


def main(settings: Settings) -> dict:
    """Return the findings."""
    return told(measured() if _has_device() else KEPT.read_text(encoding="utf-8"), here=_has_device())


def measured() -> str:
    """Run the script in a process of its own, and keep what it says."""
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    lines = "".join(line + "\n" for line in done.stdout.splitlines() if line.startswith("{"))
    KEPT.write_text(lines, encoding="utf-8")
    return lines


def told(lines: str, *, here: bool) -> dict:
    """Turn the script's lines into a table of bars."""
    said = {line["what"]: line for line in map(json.loads, lines.splitlines())}
    counts = said["counts"]
    where = "here" if here else "on another machine than the rest of this page"
    findings = Findings(
        f"{said['machine']['device']}, measured {where}; synthetic abstracts: {counts['documents']:,} documents, "
        f"{counts['nonzeros']:,} non-zeros, {counts['words']:,} words, K = {counts['components']}, single precision. "
        "A multiplication and an addition are two operations: a pass has 6·K·nnz."
    )
    findings.table(["what", "time", "rate"], _times(said))
    sweeps, faster = said["deterministic: sweeps with log-likelihood"], said["pass against two threads"]["sweeps"]
    fit, tree = said["fit against two threads"]["ratio"], said["HPLSA with 64 leaves, PLSA with K = 64"]["ratio"]
    gap = said["objectives, largest relative difference"]["difference"]
    findings.bar("TFLOP/s of a pass", sweeps["tflops"], bars.DEVICE_TFLOPS, least=True, form=".2f")
    findings.bar("a pass, in times of two threads", faster, bars.DEVICE_PASS, least=True, form=".0f")
    findings.bar("50 passes, host work included", fit, bars.DEVICE_FIT, least=True, form=".0f")
    findings.bar("HPLSA with 64 leaves, in times of PLSA", tree, bars.TREE_RATIO, form=".2f")
    findings.bar("difference to the processor's objective, relative", gap, bars.DEVICE_OBJECTIVE, form=".0e")
    same = all(said[what]["same_bits"] for what in ("deterministic: two steps from one start", VISITING))
    findings.verdict("again, and in blocks: the same bits", "yes" if same else "no", "yes", met=same)
    return findings.result()


def _times(said: dict[str, dict]) -> list[list[str]]:
    host, cores, blocks = said["two threads of the host"], said["every core of the host"], said[VISITING]
    fit, cam = said["fit of 50 passes on the device"], said["CAM step with 64 clusters"]
    whole = said["PLSA.fit of 50 steps"]
    rates = {
        "both sweeps": "deterministic: sweeps with log-likelihood",
        "a whole EM step": "deterministic: EM step, parameters to parameters",
    }
    visiting = f"{blocks['streamed_ms'] / blocks['resident_ms']:.1f} × the time of the same blocks on it"
    return [
        *([what, _ms(said[line]), f"{said[line]['tflops']:.2f} TFLOP/s"] for what, line in rates.items()),
        ["a step on two threads of its host", f"{host['pass_s']:.2f} s", f"{host['gflops']:.1f} GFLOP/s"],
        [f"a step on its {cores['threads']} threads", _ms(cores, "step_ms"), f"{cores['gflops']:.1f} GFLOP/s"],
        ["counts to the device, and by word", f"{fit['index']:.2f} s", ""],
        ["50 passes with all copies", f"{fit['seconds']:.2f} s", ""],
        [
            "`PLSA.fit`, documents folded in",
            f"{whole['device_s']:.2f} s",
            f"{whole['ratio']:.0f} × two threads",
        ],
        ["a step of CAM, 64 clusters", _ms(cam, "device_ms"), f"{cam['ratio']:.0f} × two threads"],
        [f"a step in {blocks['blocks']} blocks that visit the device", _ms(blocks, "streamed_ms"), visiting],
    ]


def _ms(line: dict, name: str = "milliseconds") -> str:
    return f"{line[name]:.1f} ms"


def _has_device() -> bool:
    try:
        from numba import cuda

        return bool(cuda.is_available())
    except ImportError:
        return False
