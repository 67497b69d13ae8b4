# Every target builds .venv on its own: all that is needed is make and Python 3.11 or newer. `make help` lists targets.

SHELL := /bin/sh
.DEFAULT_GOAL := help

VENV := .venv
RUN := $(VENV)/bin/python -m
INSTALLED := $(VENV)/.installed
WORKERS ?= auto

# The first interpreter that is new enough and can build an environment. Looked up only when there is one to build.
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11 python; do \
	$$each -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)

# Recorded cases: our own slices, or the file or the folder of *.jsonl that CASES names.
CASE_FILES = $(if $(CASES),$(if $(filter %.jsonl,$(CASES)),$(CASES),$(wildcard $(CASES)/*.jsonl)),$(wildcard tests/conformance/*.jsonl))

.PHONY: help setup demo test soak check fmt lint types imports bench conformance golden examples docs lock

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(INSTALLED) ## build .venv from requirements/dev.txt and install dray into it

# An environment whose interpreter is gone is built anew. dray is installed in place: edits count at once.
$(INSTALLED): requirements/dev.txt pyproject.toml
	@$(VENV)/bin/python -c '' 2>/dev/null || { \
		test -n '$(PYTHON)' || { echo 'error: no Python 3.11 or newer with venv found; install one, or name it: make PYTHON=/path/to/python3' >&2; exit 1; }; \
		echo 'building $(VENV) with $(PYTHON), once'; \
		'$(PYTHON)' -m venv --clear $(VENV); }
	@$(RUN) pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(RUN) pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable .
	@rm -rf .mypy_cache # it would go on missing a package that has just come
	@touch $@

demo: $(INSTALLED) ## show what dray does, on clusters that come and go (NAME=example for one)
	@$(RUN) dray demo $(NAME)

# A worker that is done takes over what others have not begun: tests with clusters of their own lie together and are long.
SHARING = -n $(WORKERS) --dist worksteal

# A test that hangs is shown with its stacks and fails, and the others go on.
HANGS = -o faulthandler_timeout=$(1) -o faulthandler_exit_on_timeout=true

test: $(INSTALLED) ## run the tests
	$(RUN) pytest $(SHARING) --hypothesis-profile ci $(call HANGS,300)

soak: $(INSTALLED) ## run the full rounds: every test, long random histories
	$(RUN) pytest $(SHARING) --hypothesis-profile soak -m '' $(call HANGS,3600)

check: lint types imports ## lint, format, types and import contracts: what CI asks first

lint: $(INSTALLED) ## ruff: rules, and format without changing files
	$(RUN) ruff check --quiet
	$(RUN) ruff format --check --quiet

types: $(INSTALLED) ## mypy, strict
	$(RUN) mypy

imports: $(INSTALLED) ## who may import whom
	$(VENV)/bin/lint-imports --no-logo

fmt: $(INSTALLED) ## format, and fix what can be fixed safely
	$(RUN) ruff check --fix --quiet
	$(RUN) ruff format --quiet

bench: $(INSTALLED) ## measure; prints each figure beside its goal (ONLY=name for one)
	@$(RUN) bench $(ONLY)

conformance: $(INSTALLED) ## recorded cases of Kubernetes: our slices, or CASES=file-or-folder
	@test -n '$(strip $(CASE_FILES))' || { echo 'error: no recorded cases there: give CASES=file.jsonl or a folder of them' >&2; exit 1; }
	@status=0; for file in $(CASE_FILES); do $(VENV)/bin/python tools/conformance.py "$$file" || status=1; done; exit $$status

golden: $(INSTALLED) ## rewrite the expected outputs; review the diff like code
	$(RUN) pytest -q tests/golden --rewrite-golden

examples: $(INSTALLED) ## play every example on `dray up`, and hold it to what it says
	$(RUN) pytest -n $(WORKERS) tests/examples

docs: $(INSTALLED) ## write docs/reference anew (review the diff like code), and build the site into build/site, strictly
	@$(RUN) tools.generate_docs
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --clean
	@echo 'the site is in build/site; to read it with search: $(RUN) http.server --directory build/site'

# Versions and hashes for every platform, no addresses: where packages come from is the installer's own business.
LOCK = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-emit-find-links \
	--custom-compile-command 'make lock' pyproject.toml

lock: ## resolve requirements/*.txt anew (needs uv; UPGRADE=--upgrade for newer versions)
	@command -v uv >/dev/null || { echo 'error: uv is needed to resolve: pip install uv' >&2; exit 1; }
	$(LOCK) $(UPGRADE) --output-file requirements/runtime.txt
	$(LOCK) $(UPGRADE) --group dev --constraints requirements/runtime.txt --output-file requirements/dev.txt
