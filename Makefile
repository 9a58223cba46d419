# Needs make and Python >= 3.11, nothing else: each target makes .venv and installs what it uses, once per pyproject.toml.

VENV := .venv
BIN := $(VENV)/bin
# Asked, not looked up: a name on PATH may be a shim for a version that is not there.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
# Those without a table in README.md, which need no data from elsewhere.
BENCHMARKS := embed extraction kernel imports path fork
GROWTH := 1000 100000
# A folder with recorded conversations, for the benchmarks that read some.
DATA ?=
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Many tests wait for processes of their own, so four workers suit two processors.  The tests of one file stay together,
# since they share a server or a browser, and the files keep the order of tests/conftest.py.
WORKERS := 4
# At full length they wait less.
test-long: WORKERS := 3
# Generated examples are the same in each run: green stays green.  Plain pytest tries new ones.
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --maxprocesses 4 --dist loadfile --no-loadscope-reorder \
	--hypothesis-profile repeatable --durations 10
# Hundreds of tests start a command; one that compiles all its modules anew takes five times as long.
export PYTHONDONTWRITEBYTECODE :=
# Commands buffer their output, as those of users do.
export PYTHONUNBUFFERED :=
# A run of some files alone: make test TESTS=tests/effect
TESTS ?= --ignore=tests/integrations
# The frameworks whose own tests are in their source archives.  pyproject.toml pins their versions.
SUITES := $(VENV)/suites
SUITES_OF := anthropic langgraph-checkpoint langgraph-checkpoint-sqlite openai-agents

.NOTPARALLEL:  # two installations into one folder would meet
.PHONY: help demo test test-integrations test-long check schemas docs bench bench-thorough clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## */  make \1\t/p' Makefile | expand -t 26

demo: $(VENV)/server.stamp  ## past chats recalled, a conversation summarized, facts that outlive it; says how to open them
	@$(BIN)/python examples/demo.py .demo

test: $(VENV)/test.stamp  ## every promise, PostgreSQL's among them, in a few minutes
	$(PYTEST) $(TESTS)

test-integrations: $(VENV)/integrations.stamp  ## the adapters, and their programs in the documentation
	$(PYTEST) tests/integrations

test-long: $(VENV)/integrations.stamp $(SUITES)/stamp  ## all of these at full length: every round of killing, and the frameworks' own tests
	THOROUGH=1 FRAMEWORK_SUITES=$(SUITES) $(PYTEST) tests

check: $(VENV)/check.stamp  ## format, lint, direction of imports, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python -m tests.readme_programs build/programs
	$(BIN)/mypy --strict
	$(BIN)/basedpyright --pythonpath $(BIN)/python

schemas: $(VENV)/test.stamp  ## write schemas/*.json anew from the classes
	$(BIN)/python -m chatmemory.programs.json_schema schemas
	$(BIN)/python -m chatmemory.programs.http.operations.every_operation schemas/openapi.json

docs: $(VENV)/docs.stamp  ## the documentation as a site, in build/docs; a dead link or a name that is not described is an error
	@$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --fresh-env --quiet docs build/docs
	@echo "open build/docs/index.html"

bench: $(VENV)/integrations.stamp  ## time it beside raw drivers, other libraries and plain Python; write the tables of docs/benchmarks.md
	@for file in $(BENCHMARKS); do echo; echo "== $$file.py"; $(BIN)/python benchmarks/$$file.py || exit 1; done
	@$(BIN)/python benchmarks/growth.py $(GROWTH)
	@$(BIN)/python benchmarks/tables.py $(if $(DATA),--data $(DATA))

bench-thorough: $(VENV)/integrations.stamp  ## those tables, the ones of millions too, in an hour
	@$(BIN)/python benchmarks/tables.py --thorough $(if $(DATA),--data $(DATA))

clean:  ## remove everything that can be made again
	rm -rf $(VENV) .demo dist build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/server.stamp: EXTRAS := [server]
$(VENV)/test.stamp: EXTRAS := [test]
$(VENV)/check.stamp: EXTRAS := [check]
$(VENV)/docs.stamp: EXTRAS := [docs]
$(VENV)/integrations.stamp: EXTRAS := [integrations]

$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	@echo "installing chatmemory$(EXTRAS) into $(VENV) ..."
	@$(PIP) install --editable '.$(EXTRAS)'
	@touch $@

$(SUITES)/stamp: $(VENV)/integrations.stamp
	@echo "downloading the frameworks' own tests ..."
	@rm -rf $(SUITES)
	@for name in $(SUITES_OF); do \
		mkdir -p $(SUITES)/$$name && \
		$(PIP) download --no-deps --no-binary $$name --dest $(SUITES)/$$name "$$($(PIP) freeze | grep "^$$name==")" && \
		tar -xzf $(SUITES)/$$name/*.tar.gz --strip-components 1 -C $(SUITES)/$$name || exit 1; \
	done
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "chatmemory needs Python 3.11 or newer; found none. Name one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is no Python 3.11 or newer" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment (on Debian: apt-get install python3-venv)" >&2; exit 1; }
