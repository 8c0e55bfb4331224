# Everything a newcomer runs; each target makes the environment that it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
BARE := .venv-bare

# tests start hundreds of processes, each of which would compile all modules again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-oldest test-bare environments lint docs fuzz sanitize audit gold bench clean

demo: $(VENV)/.installed
	$(BIN)/germane evaluate examples/digits/qrels.txt examples/digits/pixels.run examples/digits/lda.run \
		-m 'AP AP@10 AP(norm=R)@10 nDCG@10 P@10 RR'
	@$(BIN)/germane report examples/digits/qrels.txt examples/digits/pixels.run examples/digits/lda.run \
		-m 'AP AP@10 nDCG@10' -o report.html
	@echo "The report of both runs is in $(CURDIR)/report.html; open it in a browser."

SHARED := --numprocesses auto --maxprocesses 8 --dist worksteal

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(SHARED)

# what takes longer: interruption, browsers, Spark, both kernels for every reader, more random cases, the oldest libraries,
# NumPy alone, fuzzers and sanitizers
test-all: test $(VENV)/.docs
	$(BIN)/python -m pytest $(SHARED) -m "slow and not long and not live"
	$(BIN)/python -m pytest $(SHARED) --hypothesis-profile=many tests/test_laws.py tests/test_against_oracle.py tests/test_inputs.py
	$(MAKE) test-oldest
	$(MAKE) test-bare
	$(MAKE) -j2 fuzz SECONDS=6
	$(MAKE) sanitize SECONDS=5 SANITIZED=kernel

files = $(wildcard $(1:%=tests/test_%.py) $(1:%=tests/internals/test_%.py))

# every input, the oracle and what the commands print, with the oldest libraries that pyproject.toml names
READERS := api check check_lines columns gauntlet gauntlet_frames gauntlet_objects gauntlet_siblings gold ids reduction \
	scattered inputs sources

test-oldest:
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 13))'; then \
		$(MAKE) $(OLDEST)/.dev && \
		$(OLDEST)/bin/python -m pytest $(SHARED) $(call files,$(READERS)); \
	else echo "NumPy 1.26 is not made for this Python; 3.11 and 3.12 can test the oldest libraries"; fi

# NumPy alone: the demonstration with the compiled kernel and without, and the tests that need nothing else, which do both
test-bare: $(BARE)/.installed
	@for kernel in 0 ''; do export GERMANE_KERNEL=$$kernel; \
		$(BARE)/bin/germane evaluate examples/digits/qrels.txt examples/digits/pixels.run examples/digits/lda.run -m 'AP AP@10 nDCG@10' && \
		$(BARE)/bin/germane report examples/digits/qrels.txt examples/digits/pixels.run examples/digits/lda.run -m AP -o $(BARE)/report.html || exit 1; done
	$(BARE)/bin/python -m pytest -p no:cacheprovider --noconftest tests/test_numpy_alone.py

# those beside the first, which .ci/run makes while the types are checked
environments: $(BARE)/.installed
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 13))'; then $(MAKE) $(OLDEST)/.dev; fi

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v cc > /dev/null; then cc -std=c11 -Wall -Wextra -Werror -fsyntax-only src/germane/kernel/reduce.c fuzz/reduce.c; fi

# the site, from docs/_build/index.html on
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --jobs auto --quiet --fail-on-warning --keep-going -d $(VENV)/doctrees -c docs . docs/_build

SECONDS := 10

fuzz: fuzz-trec fuzz-names fuzz-trec_eval fuzz-columns fuzz-records fuzz-coco

fuzz-%: $(VENV)/.fuzz
	@mkdir -p $(VENV)/found/$*
	@if $(BIN)/python -c 'import atheris' 2>/dev/null; then \
		$(BIN)/python fuzz/run.py $* $(VENV)/found/$* fuzz/corpus/$* -seed=1 -max_total_time=$(SECONDS) 2> $(VENV)/found/$*.log \
			|| { tail -40 $(VENV)/found/$*.log; exit 1; }; \
		echo "$*: nothing found in $$(ls $(VENV)/found/$* | wc -l) inputs that reach new code"; \
	else echo "$*: there is no atheris for this Python; make test replays the corpus"; fi

# the kernel with sanitizers: tests that call it, and any bytes for so many seconds
SANITIZED := kernel reduction scattered fuzz gauntlet gauntlet_frames gauntlet_objects gauntlet_siblings

sanitize: SECONDS := 180
sanitize: $(VENV)/.dev
	fuzz/sanitize.sh $(SECONDS) $(BIN)/python $(call files,$(SANITIZED))

audit: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet pip-audit --editable '.[frames,plot,stats]'
	$(BIN)/pip-audit --skip-editable

gold: $(VENV)/.dev
	GERMANE_ACCEPT_GOLD=1 $(BIN)/python -m pytest tests/test_gold.py tests/test_tutorials.py

bench: bench/.venv/.installed
	bench/.venv/bin/python bench/run.py

clean:
	rm -rf build docs/_build docs/reference report.html src/germane/kernel/reduce-*.library
	rm -rf $(VENV) $(OLDEST) $(BARE) bench/.venv bench/data .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.installed: pyproject.toml hatch_build.py src/germane/kernel/reduce.c
	$(PYTHON) -c 'import sys; sys.exit("germane needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Say which one to use: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

$(OLDEST)/.dev: pyproject.toml tests/oldest.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tests/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(OLDEST)/bin/python -m pip install --quiet --only-binary numpy,pyarrow,scipy --constraint $(OLDEST)/constraints.txt --editable . --group dev
	touch $@

$(BARE)/.installed: pyproject.toml hatch_build.py src/germane/kernel/reduce.c
	$(PYTHON) -m venv $(BARE)
	$(BARE)/bin/python -m pip install --quiet --editable . pytest
	$(BARE)/bin/python -c 'from importlib.util import find_spec; assert not find_spec("pyarrow")'
	touch $@

$(VENV)/.fuzz: $(VENV)/.dev
	-$(BIN)/python -m pip install --quiet --only-binary atheris atheris
	touch $@

bench/.venv/.installed: pyproject.toml bench/requirements.txt
	$(PYTHON) -m venv bench/.venv
	bench/.venv/bin/python -m pip install --quiet --editable . --requirement bench/requirements.txt
	touch $@
