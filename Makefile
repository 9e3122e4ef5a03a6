# make train   on a fresh machine: environment, install, then a training on the bundled game
# make test    on a fresh machine: environment, install, then the tests that take no minutes each
# make test-long   all other tests: proofs of learning, the live page in a browser, kills, further variants
# make test-faults kills, stops and starves trainings at random moments, TRIES times each, and prints a table
# make fuzz        damaged files and requests, FUZZ_SECONDS of each kind (300 without)
# make audit       known vulnerabilities of the pinned packages; make licences writes docs/licences.md
# make examples   trains on the bundled game with other libraries, some minutes each
# make lint | format | bench | docs | clean
#
# PYTHON=python3.12 picks another interpreter, ARGS="--steps 1000" goes to the command, WORKERS=2 to pytest (default:
# two for each processor, since many tests wait).

PYTHON ?= python3
WORKERS ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
TRIES ?= 100
FUZZ_SECONDS ?= 300
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

# The types again as other systems have them. Other packages are left out, which takes an eighth of the time: the check
# before has tried their types, and what depends on the system is in Python's own library.
ELSEWHERE := --no-site-packages --ignore-missing-imports --allow-subclassing-any --allow-untyped-decorators \
	--no-warn-return-any --no-warn-unused-ignores --disable-error-code has-type --disable-error-code misc

# Hundreds of processes start in the tests: each would compile the program anew.
test test-long test-faults fuzz: export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := test
.PHONY: train test test-long test-faults fuzz audit licences examples lint format bench docs clean check-python

train: $(VENV)/installed
	$(BIN)/pkmn train $(ARGS)

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

fuzz: $(VENV)/installed-dev
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest -n $(WORKERS) tests/fuzz $(ARGS)

audit:
	PYTHON=$(PYTHON) .ci/audit

licences: $(VENV)/installed-dev
	$(BIN)/python docs/licences.py

examples: $(VENV)/installed-dev
	$(BIN)/python examples/stable_baselines3_dqn.py $(ARGS)
	$(BIN)/python examples/sb3_contrib_maskable_ppo.py $(ARGS)
	$(BIN)/python examples/cleanrl_style_ppo.py $(ARGS)

test-long: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m long $(ARGS)

test-faults: $(VENV)/installed-dev
	FAULT_TRIES=$(TRIES) $(BIN)/python -m pytest tests/pkmncli/faults tests/plugins/pkmn_multimodel/test_multimodel_nodes.py -m "long or not long" --timeout=0 -v $(ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	for platform in win32 darwin; do $(BIN)/mypy $(ELSEWHERE) --platform $$platform --cache-dir .mypy_cache/$$platform || exit 1; done
	cd plugins/pkmn_pyboy/games/quillwood/tools && $(CURDIR)/$(BIN)/mypy --strict --explicit-package-bases --config-file= *.py
	$(BIN)/lint-imports

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed
	$(BIN)/pkmn bench $(ARGS)

docs: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# An environment is made anew when it does not start, and installed into again when a list of packages has changed.

check-python:
	@if ! $(BIN)/python -c '' 2>/dev/null; then \
	  rm -f $(VENV)/installed $(VENV)/installed-dev; \
	  command -v $(PYTHON) >/dev/null || { echo 'pkmncli needs Python 3.11 or newer; there is no $(PYTHON): install it, or run make PYTHON=...' >&2; exit 1; }; \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "pkmncli needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1): install a newer one, or run make PYTHON=..." >&2; exit 1; }; \
	fi

$(BIN)/python: | check-python
	$(PYTHON) -m venv --clear $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | check-python $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | check-python $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch $(VENV)/installed $@
