#!/bin/sh
# Builds sdist and wheel, installs the wheel into a clean environment where no compiler can be called, and uses it.
# sh tools/smoke_wheel.sh [FOLDER]: about three minutes; prints sizes and times, and fails where something is missing.
set -eu
PYTHON=${PYTHON:-python3}
ROOT=$(cd "$(dirname "$0")/.." && pwd)
WORK=${1:-$(mktemp -d)}
mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
quiet() { "$@" >"$WORK/log" 2>&1 || { cat "$WORK/log"; exit 1; }; }
say() { printf '%-34s %s\n' "$1" "$2"; }
seconds() { # the least of five, which a busy machine disturbs least
    "$CLEAN/bin/python" -c 'import subprocess, sys, time
def once():
    began = time.perf_counter(); subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); return time.perf_counter() - began
print(f"{min(once() for _ in range(5)):.2f} s")' "$@"
}

echo "== Building, in an environment of its own"
quiet "$PYTHON" -m venv "$WORK/build"
quiet "$WORK/build/bin/python" -m pip install --disable-pip-version-check -q build
quiet "$WORK/build/bin/python" -m build --outdir "$WORK/dist" "$ROOT" # the wheel is made from the sdist
WHEEL=$(ls "$WORK"/dist/*.whl)
say "wheel" "$(($(wc -c <"$WHEEL") / 1000)) kB  $(basename "$WHEEL")"
say "sdist" "$(($(wc -c <"$(ls "$WORK"/dist/*.tar.gz)") / 1000)) kB"

echo "== Installing the wheel where there is no compiler"
CLEAN=$WORK/clean
quiet "$PYTHON" -m venv --without-pip "$CLEAN"
export CC=/bin/false CXX=/bin/false FC=/bin/false
quiet "$WORK/build/bin/python" -m pip --python "$CLEAN/bin/python" install --disable-pip-version-check --no-compile -q "$WHEEL" -c "$ROOT/constraints.txt"
INSTALLED=$(du -sm "$CLEAN/lib" | cut -f1)
say "default install" "$INSTALLED MB"
"$CLEAN/bin/python" -m compileall -q "$CLEAN/lib" >/dev/null 2>&1 || true
say "import of nothing, python -c pass" "$(seconds "$CLEAN/bin/python" -c pass)"
say "import topiarist" "$(seconds "$CLEAN/bin/python" -c 'import topiarist')"
say "topiarist --version" "$(seconds "$CLEAN/bin/topiarist" --version)"

echo "== Using it in an empty folder, with an empty environment"
mkdir -p "$WORK/use"
cd "$WORK/use"
run() { quiet env -i PATH="$CLEAN/bin:/usr/bin:/bin" HOME="$WORK/use" "$@"; }
run topiarist grow demo --limit 400 --topics 4 -o demo.topiary
run topiarist tree demo.topiary
run topiarist find demo.topiary dark matter
run topiarist report demo.topiary -o demo.html
run topiarist check demo.topiary
run topiarist doctor
run python -m topiarist show demo.topiary 1 --json
run python -c 'from topiarist import PLSA; import numpy; PLSA(2).fit(numpy.ones((4, 5)))'

say "grow, tree, find, report, check" "done"
printf '%%PDF-1.4' >report.pdf
env -i PATH="$CLEAN/bin:/usr/bin:/bin" HOME="$WORK/use" topiarist grow report.pdf >"$WORK/log" 2>&1 && { cat "$WORK/log"; exit 1; }
grep -q "pip install 'topiarist\[office\]'" "$WORK/log" || { cat "$WORK/log"; exit 1; }
say "a PDF without the extra 'office'" "told"
[ "$INSTALLED" -le 450 ] || { echo "The default install is larger than 450 MB."; exit 1; }
[ "$(wc -c <"$WHEEL")" -le 10000000 ] || { echo "The wheel is larger than 10 MB."; exit 1; }
