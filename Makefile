# make demo   sets up, grows a tree of topics from the bundled abstracts, finds and files something
# make test   sets up, checks style, types and imports, runs the tests
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help demo explore quick test lint docs fuzz bench compare reproduce clean mutants audit hashes newest
help:
	@echo "make demo       set up, then grow a tree of topics from the bundled abstracts, find and file something"
	@echo "make explore    open that collection in the browser"
	@echo "make quick      the unit tests that need no browser, cluster or grown collection (about a minute)"
	@echo "make test       set up, then check style, types and imports, and run the tests"
	@echo "make lint       style, types and the direction of imports only"
	@echo "make docs       build the documentation as a site that needs no network, with a search: build/docs/site"
	@echo "make fuzz       an hour of kills, faults, full disks, damaged files and folders, odd counts and odd questions"
	@echo "make mutants    break one thing after the other, and see whether a test fails (hours)"
	@echo "make audit      licences, sizes and wholeness of what is installed, and an SBOM"
	@echo "make hashes     write the digests of what is pinned (asks the index of pip)"
	@echo "make newest     install without pins, say what is newer, and run the tests that would notice first"
	@echo "make bench      compare with other systems in one run (sets up their own environment)"
	@echo "make compare    run peers on the same documents, write docs/comparison.md (sets up their own environments)"
	@echo "make reproduce  run the experiments of the five papers again, write docs/reproduction.md"
	@echo "make clean      remove the environments and caches"

# About two minutes, ends by itself. Its collection is demo.topiary, which can be deleted.
demo: $(VENV)/demo
	@echo "== Growing a tree of 12,000 arXiv abstracts (about half a minute, the first time a minute)"
	@$(BIN)/topiarist grow demo -o demo.topiary --force
	@echo; echo "== Finding: topiarist find demo.topiary dark matter halo"
	@$(BIN)/topiarist find demo.topiary dark matter halo -n 3
	@echo; echo "== Filing a new text: where does it belong?"
	@mkdir -p .demo && echo "We measure the rotation of a spiral galaxy with a radio telescope and weigh its halo of dark matter." > .demo/new.txt
	@$(BIN)/topiarist file demo.topiary .demo/new.txt --quiet; rm -rf .demo
	@echo; echo "Next, open it in the browser:  make explore"
	@echo "    or, with your own folder:  $(BIN)/topiarist grow ./my-folder"

explore: $(VENV)/demo
	@test -f demo.topiary/manifest.json || $(BIN)/topiarist grow demo -o demo.topiary
	@$(BIN)/topiarist explore demo.topiary || test $$? = 130  # Ctrl-C is how it ends

# What could go wrong, thousands of times: more than an hour. ARGS go to the kills, SOAK to the soak (SOAK='--minutes 2').
fuzz: $(VENV)/dev
	@$(BIN)/python tools/fuzz_kills.py --kills 1000 $(ARGS)
	@$(BIN)/python tools/fuzz_folders.py --mutants 5000
	@$(BIN)/python tools/fuzz_faults.py
	@$(BIN)/python tools/fuzz_calls.py
	@$(BIN)/python tools/soak.py $(SOAK)
	@$(BIN)/python tools/soak.py --additions 100000 --batch 500 --minutes 60
	@$(BIN)/python tools/soak.py --kills 50
	@$(BIN)/python tools/fuzz_files.py --files 100000
	@$(BIN)/python tools/fuzz_fits.py --fits 100000
	@$(BIN)/python tools/fuzz_requests.py --requests 10000
	@TOPIARIST_FUZZ=300 $(BIN)/python -m pytest -q tests/web/test_schema.py

# Breaks one thing after the other and sees whether a test fails; hours. ARGS='--own' has only the list of promises.
mutants: $(VENV)/dev
	@$(BIN)/python tools/mutants.py $(ARGS)

# Licences, sizes and wholeness of what is installed, and a list of it (CycloneDX) in sbom.json; asks nobody.
audit: $(VENV)/dev
	@$(BIN)/python tools/supply_chain.py --extras dev --sbom sbom.json

# Writes the digests of what constraints.txt pins, for this platform, as the index of pip tells them: after a new version.
hashes: $(VENV)/dev $(VENV)/docs
	@$(BIN)/python tools/hashes.py

# The newest version of everything that pyproject.toml allows, in an environment of its own, and the tests that would
# notice first. ARGS are other tests.
newest:
	@PYTHON=$(PYTHON) sh tools/newest.sh $(ARGS)

# Unit tests of functions and values, without the browser, Dask and scikit-learn's checks. ARGS are further options.
QUICK := tests/counts tests/display tests/metrics tests/storage tests/trees tests/test_structure.py tests/test_language.py
quick: $(VENV)/dev
	@$(BIN)/python -m pytest -q -n 2 $(QUICK) $(ARGS)

test: lint
	@echo "== Running the tests"
	@$(BIN)/python -m pytest -q -n 2 $(ARGS)

lint: $(VENV)/dev
	@echo "== Checking style, types and the direction of imports"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

docs: $(VENV)/docs
	@echo "== Building the documentation"
	@$(BIN)/python docs/build.py

bench: $(VENV)/dev
	@PYTHON=$(PYTHON) sh benchmarks/setup.sh
	@$(BIN)/python benchmarks/tokens.py
	@$(BIN)/python -m benchmarks.run $(ARGS)

reproduce: $(VENV)/dev
	@for name in $(or $(ARGS),tempering events abstracts labels categorisers gaussians retrieval); do $(BIN)/python -m benchmarks.reproduce.$$name || exit; done
	@$(BIN)/python -m benchmarks.reproduce.page

compare: $(VENV)/dev
	@PYTHON=$(PYTHON) sh benchmarks/setup.sh
	@PYTHON=$(PYTHON) sh benchmarks/comparison/setup.sh
	@$(BIN)/python -m benchmarks.comparison $(ARGS)

clean:
	rm -rf $(VENV) .venv-bench* .venv-newest build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# ---- environments; a stamp says which one is complete

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed, and there is no $(PYTHON). Try: apt install python3 python3-venv"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; $(PYTHON) is older. Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 2; }
	@echo "== Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python came without its venv module. Try: apt install python3-venv"; exit 2; }

$(VENV)/demo: $(VENV)/bin/python pyproject.toml constraints.txt packaging/hashes/core.txt
	@echo "== Installing topiarist and what it needs (about a minute)"
	@$(BIN)/python tools/install.py core
	@touch $@

$(VENV)/dev: $(VENV)/bin/python pyproject.toml constraints.txt packaging/hashes/dev.txt
	@echo "== Installing topiarist with the tools of its developers (about a minute)"
	@$(BIN)/python tools/install.py dev
	@touch $@ $(VENV)/demo

$(VENV)/docs: $(VENV)/demo packaging/hashes/docs.txt
	@echo "== Installing what builds the documentation"
	@$(BIN)/python tools/install.py docs
	@touch $@
