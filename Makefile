# Everything a newcomer runs; each target makes the environment that it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint audit gold bench clean

demo: $(VENV)/.installed
	$(BIN)/germane evaluate examples/digits/qrels.txt examples/digits/pixels.run examples/digits/lda.run \
		-m 'AP AP@10 AP(norm=R)@10 nDCG@10 P@10 RR'

test: $(VENV)/.dev
	$(BIN)/python -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet pip-audit --editable '.[plot,stats]'
	$(BIN)/pip-audit --skip-editable

gold: $(VENV)/.dev
	GERMANE_ACCEPT_GOLD=1 $(BIN)/python -m pytest tests/test_gold.py

bench: bench/.venv/.installed
	bench/.venv/bin/python bench/run.py

clean:
	rm -rf $(VENV) bench/.venv bench/data .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("germane needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Say which one to use: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

bench/.venv/.installed: pyproject.toml bench/requirements.txt
	$(PYTHON) -m venv bench/.venv
	bench/.venv/bin/python -m pip install --quiet --editable . --requirement bench/requirements.txt
	touch $@
