# `make build`, `make test` and `make check` are all a newcomer needs; each sets up what is missing.
PYTHON ?= python3
BIN := .venv/bin
ATTEST_TARGET ?= local
export ATTEST_TARGET
export DBT_SEND_ANONYMOUS_USAGE_STATS := false

.PHONY: help setup build test prove check bench-bronze bench-silver bench-gold bench-historic bench-write bench-build bench-land bench bench-report reference lock clean

help: ## show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## create .venv, fetch the jars, copy the profile
	@$(PYTHON) python/bootstrap.py

build: setup ## land the demo data, run dbt build, and print what is believed of customer C123, and why
	@$(BIN)/python examples/demo.py

test: setup ## run every test, dbt's and pytest's, on a scratch lake for each of two processes
	@$(BIN)/python -m pytest -c python/pyproject.toml --rootdir . -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST)

prove: setup ## the long proofs: all mutants, every history of four events, every order of batches, many seeds (an hour)
	@$(BIN)/python -m pytest -c python/pyproject.toml --rootdir . -s -m mutant
	@$(BIN)/python -m pytest -c python/pyproject.toml --rootdir . -s -m prove

check: setup ## lint, types, parse
	@$(BIN)/ruff check --config python/pyproject.toml python tests examples bench
	@$(BIN)/ruff format --check --quiet --config python/pyproject.toml python tests examples bench
	@$(BIN)/mypy --config-file python/pyproject.toml python/src python/reference.py python/warm.py tests examples bench
	@ATTEST_OFFLINE=1 $(BIN)/dbt --quiet --warn-error-options '{"error": "all"}' parse --no-partial-parse
	@ATTEST_OFFLINE=1 $(BIN)/dbt --quiet compile
	@cd target/compiled/attest && ../../../$(BIN)/sqlfluff lint --config ../../../.sqlfluff --processes 2 models tests

bench-bronze: setup ## time evidence, states and timeline beside the same rows moved without logic (SIZES, SHAPES, ROUNDS)
	@$(BIN)/python bench/bronze.py

bench-silver: setup ## time beliefs beside the same states moved without logic (ENTITIES)
	@$(BIN)/python bench/silver.py

bench-write: setup ## time a change beside MERGE, overwrite, rebuild and dbt's snapshots (SIZES, ROUNDS, CASES, FULL=1)
	@$(BIN)/python bench/write.py

bench-gold: setup ## time the as-of join of facts beside three others (FACTS, VERSIONS, CASES, ROUNDS, LIMIT)
	@$(BIN)/python bench/gold.py

bench-historic: setup ## time a version history beside dbt's snapshot and the two-pass MERGE recipe (SIZES, CASES, ROUNDS)
	@$(BIN)/python bench/historic.py

bench-build: setup ## time a build without news and with one changed entity beside an empty project (ROUNDS=3)
	@$(BIN)/python bench/build.py

bench-land: setup ## time landing by drop, file and stream beside Spark's bare append (FILES, EACH, EVENTS, BATCHES, CHANGES, ROUNDS, CASES)
	@$(BIN)/python bench/land.py

bench: ## every benchmark in turn, at its default sizes, and docs/performance.md of what they measured (an hour)
	@for one in bronze silver write land gold historic build; do $(MAKE) --no-print-directory bench-$$one || exit 1; done
	@$(BIN)/python bench/report.py

bench-report: ## docs/performance.md of the benchmarks that were run here
	@$(BIN)/python bench/report.py

reference: setup ## docs/reference of the commands, seeds and macros as they are
	@$(BIN)/python python/reference.py

lock: ## resolve python/requirements.in anew (needs uv in .venv)
	@cd python && ../$(BIN)/uv pip compile requirements.in --override requirements.overrides --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate -o requirements.lock

clean: ## remove the environment and the demo lake
	rm -rf .venv lake target logs
