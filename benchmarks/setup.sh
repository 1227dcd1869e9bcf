#!/bin/sh
# Make the peers' environment: sh benchmarks/setup.sh [FOLDER], by default .venv-bench in the repository.
# Everything comes as a wheel except enstop, which is pure Python and has only a source archive.
set -eu
cd "$(dirname "$0")/.."
folder="${1:-.venv-bench}"
[ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --only-binary :all: --no-binary enstop -r benchmarks/requirements.txt
PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python GLOG_minloglevel=3 "$folder/bin/python" - <<'PYTHON'
import os
import tempfile

os.chdir(tempfile.mkdtemp())  # BigARTM writes its log where it is imported
import numpy

numpy.float = float
import artm, enstop, gensim, sklearn, tomotopy

print("peers ready:", "bigartm", artm.version(), "gensim", gensim.__version__, "scikit-learn", sklearn.__version__,
      "tomotopy", tomotopy.__version__, "enstop")
PYTHON
