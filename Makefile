# Two commands do everything on a fresh machine: `make demo` and `make test`.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
PIP    := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal --durations=20
USABLE := $(VENV)/.usable
READY  := $(VENV)/.ready
# Where bytecode is not stored, every process that a test starts would compile torch anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test coverage lint format docs types setup clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      set up, then show what recallseg does, with nothing to download"
	@echo "make test      set up, lint, type-check, run the tests"
	@echo "make coverage  the tests once more, with the lines that none of them reaches"
	@echo "make lint      ruff, mypy and the import contracts only"
	@echo "make format    let ruff rewrite the code in the house style"
	@echo "make docs      set up, build the site of the documents in build/site"

setup: $(READY)

$(USABLE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e '.[web]'
	@touch $@

$(READY): $(USABLE)
	$(PIP) -c constraints.txt -e '.[dev]'
	$(PIP) -c constraints.txt --no-deps pytorch-pretrained-biggan # for a parity test; its download tools are not needed
	@touch $@

demo: $(USABLE)
	$(BIN)/recallseg demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: lint
	$(PYTEST)

coverage: setup
	$(PYTEST) --cov --cov-report=term

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build
