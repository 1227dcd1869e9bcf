#!/bin/sh
# Environments of the peers beside .venv-bench: one that cannot be made is said, and its rows are left out of the page.
set -u
cd "$(dirname "$0")/../.."
make_one() { # folder, then what pip is given
    folder="$1"
    shift
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet "$@" || echo "$folder: could not be made; its peers are not run"
}
make_one .venv-bench-vectors numpy==2.4.6 pandas==3.1.1 hdbscan==0.8.44 umap-learn==0.5.12 scikit-learn==1.9.1 tqdm plotly==7.1.0 PyYAML safetensors evoc==0.3.2
make_one .venv-bench-vectors --no-deps bertopic==0.17.4 # without sentence-transformers, which would bring PyTorch
make_one .venv-bench-labels scikit-learn==1.9.1 hiclass==5.0.8 scikit-multilearn==0.2.0
make_one .venv-bench-annif annif==1.4.3 omikuji==0.5.2
make_one .venv-bench-review asreview==3.0.8
make_one .venv-bench-topica topica==0.62.0 scipy==1.17.1
make_one .venv-bench-toponymy toponymy==0.5.4 umap-learn==0.5.12 scikit-learn==1.9.1
