# One command per job; `make` alone lists them. Every job runs in .venv, which `setup` makes.
.DEFAULT_GOAL := help
.PHONY: help setup demo serve test unit cover check fix bench bench-calibration bench-presets openapi catalogue lock clean

# The first of these that will do; PYTHON=… on the command line overrides it.
WILL_DO := -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python $(WILL_DO) && echo $$python && break; done)
UV_VERSION := 0.13.9

BIN := .venv/bin
INSTALLED := .venv/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
# Four processes at most: each may hold a pool of connections to the one PostgreSQL of the tests.
IN_PARALLEL := --numprocesses auto --maxprocesses 4 --dist worksteal
SOURCES := app tests demo bench scripts

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## Create .venv with everything, from the locked versions
	@:

$(INSTALLED): requirements-dev.lock pyproject.toml
	@"$(PYTHON)" $(WILL_DO) || { echo "Foreword needs Python 3.11 or newer with the venv module; name one with PYTHON=…" >&2; exit 1; }
	@echo "Installing into .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

demo: setup ## Replay a real session through the service and print the prepared call
	@$(BIN)/python -m demo

serve: setup ## Serve on http://127.0.0.1:8000, from SQLite or from DATABASE_URL
	@$(BIN)/foreword serve --migrate

test: setup ## Run every test, on SQLite and PostgreSQL
	@$(PYTEST) $(IN_PARALLEL)

unit: setup ## Run the tests that need no database
	@$(PYTEST) tests/unit tests/test_architecture.py app

cover: setup ## Run every test and show what it did not reach
	@$(PYTEST) $(IN_PARALLEL) --cov --cov-fail-under 95

check: setup ## Check style, types, layers, migrations, OpenAPI, versions and container files
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy $(SOURCES) alembic
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -W "ignore:XDG_RUNTIME_DIR" -m scripts.check_migrations
	@$(BIN)/python -m scripts.openapi --check openapi/openapi.json
	@$(BIN)/python -m scripts.check_version
	@$(BIN)/hadolint Dockerfile
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

fix: setup ## Format, and mend what can be mended
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: setup ## Measure append and prepare against the bare floor
	@$(BIN)/python -W "ignore:XDG_RUNTIME_DIR" -m bench

bench-calibration: setup ## Measure the three token numbers against reported usage; FILE=… for your own
	@$(BIN)/python -m bench.calibration $(FILE)

bench-presets: setup ## Play one session under every preset; FILE=… for your own
	@$(BIN)/python -W "ignore:XDG_RUNTIME_DIR" -m bench.presets $(FILE)

openapi: setup ## Write openapi/openapi.json
	@$(BIN)/python -m scripts.openapi openapi/openapi.json

catalogue: setup ## Write app/catalogue/models.json from the published lists of models
	@$(BIN)/python -m scripts.refresh_catalogue app/catalogue/models.json

lock: setup ## Resolve the dependencies anew and write the lock files
	@$(PIP) install uv==$(UV_VERSION)
	@rm -f uv.lock
	@$(BIN)/uv lock --quiet
	@$(BIN)/uv export --quiet --frozen --no-emit-project --no-dev -o requirements.lock
	@$(BIN)/uv export --quiet --frozen --no-emit-project -o requirements-dev.lock
	@echo hatchling | $(BIN)/uv pip compile --quiet --universal --generate-hashes \
		--constraints requirements-dev.lock --custom-compile-command "make lock" \
		-o requirements-build.lock -

clean: ## Remove .venv and what the tools left behind
	@rm -rf .venv .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist htmlcov uv.lock
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
