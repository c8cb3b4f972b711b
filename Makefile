# Everything a developer or a first-time user runs. `make demo` and `make test` need Python and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
ROOMS := forecaster features models actuator simulator

.PHONY: pretrain demo test test-page test-slow lint format lock bench bench-peers clean

$(INSTALLED): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: $(INSTALLED)
	$(BIN)/tidecast demo

test: $(INSTALLED)
	$(BIN)/python -m pytest -n auto -m "not slow and not browser"

test-page: $(INSTALLED)
	$(BIN)/python -m pytest -m browser

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(INSTALLED)
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--no-header --no-emit-index-url --extra dev pyproject.toml --output-file requirements.lock

pretrain: $(INSTALLED)
	$(BIN)/python -m forecaster.tasks.pretraining $(TRACES)

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

# in an environment of its own: the peers need an older SciPy than the lock file has
bench-peers: $(INSTALLED)
	$(BIN)/uv run --quiet --no-project --isolated --python $(BIN)/python --with-editable '.[peers]' \
		python -m benchmarks.peers $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
