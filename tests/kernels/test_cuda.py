"""The telling for CUDA, in numba's simulator: it must be chosen before numba is imported, so pytest starts pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}
    )


@pytest.mark.parametrize(
    "cases", ["tests/kernels/cuda_cases.py", "tests/models/cuda_cases.py", "tests/models/cuda_growth_cases.py"]
)
def test_device_kernels_in_simulator(cases):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", cases, NUMBA_ENABLE_CUDASIM="1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_loads_no_cuda():
    script = (
        "import sys, numpy as np\n"
        "from topiarist import CAM, HPLSA, PLSA\n"
        "PLSA(2, random_state=0, max_iter=3).fit(np.eye(4) + 1).transform(np.eye(4))\n"
        "loaded = ('numba.cuda', 'numba_cuda', 'topiarist.kernels.cuda')\n"
        "print([name for name in sys.modules if name.startswith(loaded)])\n"
    )
    done = run("-c", script)
    assert done.stdout.strip() == "[]", done.stderr
