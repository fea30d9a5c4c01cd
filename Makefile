# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo docs pictures test test-installs compatibility fuzz lint type clean

# Reinstalled only when the project's metadata changes; the package itself is installed in place.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed
	$(BIN)/gessvdd demo

# The site, in build/site: strict, and without the network.
docs: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# The pictures that the repository keeps, drawn again; the site draws its own.
pictures: $(VENV)/.installed
	$(BIN)/python -m website.pictures

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(VENV)/.installed
	$(BIN)/mypy

test: lint type
	$(BIN)/python -m pytest -n 2 --dist loadgroup

# Part of `test`: the plugins' own tests and everything else that needs wheels in a fresh environment.
test-installs: $(VENV)/.installed
	$(BIN)/python -m pytest tests/installs

# Other interpreters, the lowest versions that are declared, and the packages of others, in environments of their own.
compatibility: $(VENV)/.installed
	$(BIN)/python .ci/environments.py

# The fuzzers of tests/fuzz with other seeds every time, EXAMPLES each; `test` runs a few with a fixed one.
EXAMPLES ?= 2000
fuzz: $(VENV)/.installed
	PYOD_GESSVDD_FUZZ=$(EXAMPLES) $(BIN)/python -m pytest -q -n 2 -p no:cacheprovider tests/fuzz

clean:
	rm -rf $(VENV) build dist *.egg-info
