# Two commands on a fresh machine with Python and a Rust toolchain: `make demo`, `make test`.
# The virtual environment and the built core are real files, so nothing is made twice. `make demo`
# installs what compiles and runs presage; whatever is about development comes with other targets.

PYTHON ?= python3
BIN := .venv/bin
VENV := .venv/.made
TOOLS := .venv/.tools
CORE := src/presage/_core.abi3.so
BROWSER := .venv/.browser
PEER := benchmarks/stateright/target/release/stateright-peer
RUST_SOURCES := rust/Cargo.toml rust/build.rs $(wildcard rust/Cargo.lock) $(shell find rust/src -name '*.rs')
PEER_SOURCES := $(addprefix benchmarks/stateright/,Cargo.toml Cargo.lock) \
	$(shell find benchmarks/stateright/src -name '*.rs' 2>/dev/null)
CRATES := rust benchmarks/stateright
# Of the random systems that slow tests name; with 1, all of them, in 20 minutes.
SYSTEMS ?= 0.5
LOCK := requirements/dev.txt
BUILD_LOCK := requirements/build.txt

# A wheel names no folder of the machine that built it: not cargo's, not this one, not Rust's own.
CARGO_DIR := $(or $(CARGO_HOME),$(HOME)/.cargo)
REMAPPED = --remap-path-prefix=$(CARGO_DIR)=/cargo\037--remap-path-prefix=$(CURDIR)=/presage\037$\
	--remap-path-prefix=$(shell rustc --print sysroot)=/rust

# Tests start presage thousands of times: with byte code that takes half as long, and where Python was
# asked not to write any, there is none.
COMPILE := $(BIN)/python -m compileall -q src/presage
CARGO_TEST := cargo test --quiet --locked --manifest-path rust/Cargo.toml

# Lets cargo, called by us or by maturin, always meet the same interpreter.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath .venv)

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-all coverage lint bench shrinking catalogue delaying samc
.PHONY: workers trees live rivals figures schemas docs screenshots wheel sdist release-check sbom lock clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(CORE) $(TOOLS) $(BROWSER) ## create .venv with the package and everything development needs

build: $(CORE) ## compile the Rust core, if its sources changed

demo: $(CORE) ## find a real historic bug of a Paxos implementation
	@$(BIN)/presage check paxos --set clients=2 --set bug=last_promise; status=$$?; \
	if [ $$status -ne 1 ]; then \
		echo "demo: expected a violation (exit status 1), got exit status $$status" >&2; exit 1; \
	fi

test: $(CORE) $(TOOLS) $(BROWSER) ## run the tests, except the slow ones
	$(CARGO_TEST)
	$(COMPILE)
	$(BIN)/pytest -n auto --dist worksteal

test-all: $(CORE) $(TOOLS) $(BROWSER) ## run all tests, the slow ones too
	$(CARGO_TEST)
	$(COMPILE)
	PRESAGE_TEST_SYSTEMS=$(SYSTEMS) $(BIN)/pytest -n auto --dist worksteal -m ''

coverage: $(CORE) $(TOOLS) $(BROWSER) ## print how many lines the tests run, of Python and of Rust
	$(BIN)/python tools/lines_run.py $(or $(COVERAGE),-n auto --dist worksteal)

lint: $(CORE) $(TOOLS) ## check formatting, types, layers, Rust lints and the tidy rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/stubtest presage._core presage._results
	$(BIN)/lint-imports
	for crate in $(CRATES); do \
		cargo fmt --manifest-path $$crate/Cargo.toml --check && \
		cargo clippy --locked --manifest-path $$crate/Cargo.toml --all-targets -- -D warnings \
			|| exit 1; \
	done
	$(BIN)/pytest tests/tidy

bench: $(CORE) $(TOOLS) $(PEER) ## measure presage against Stateright and TLC, side by side
	$(BIN)/python benchmarks/bench.py $(BENCH)
	$(BIN)/python benchmarks/tlc.py $(filter --quick,$(BENCH))
	$(BIN)/python benchmarks/walks.py
	$(BIN)/python benchmarks/queues.py
	$(BIN)/python benchmarks/processes.py
	$(BIN)/python benchmarks/real_code.py

rivals: $(CORE) $(TOOLS) ## run the same three programs under presage and under simloom
	$(BIN)/python benchmarks/rivals/compare.py $(RIVALS)

shrinking: $(CORE) $(TOOLS) ## measure how much shorter shrinking makes what hunts and walks find
	$(BIN)/python benchmarks/shrinking.py $(SHRINKING)

catalogue: $(CORE) $(TOOLS) ## hunt for every bug of the shipped systems, and write the table in the docs
	$(BIN)/python benchmarks/catalogue.py $(CATALOGUE)

workers: $(CORE) $(TOOLS) ## measure how much sooner two workers of a cluster hunt the catalogue; wants Ray
	$(BIN)/python benchmarks/workers.py $(WORKERS)

trees: $(CORE) $(TOOLS) ## measure how two threads share the work on one tree of executions
	$(BIN)/python benchmarks/trees.py $(TREES)

delaying: $(CORE) $(TOOLS) ## measure the tables of the delaying explorers, and write them in the docs
	$(BIN)/python benchmarks/delaying.py $(DELAYING)

samc: $(CORE) $(TOOLS) ## measure the tables of SAMC, and write them in the docs
	$(BIN)/python benchmarks/samc.py $(SAMC)

live: $(CORE) $(TOOLS) ## run the live experiments on a virtual clock, and write the page about them
	$(BIN)/python benchmarks/live_experiments.py $(LIVE)

figures: $(TOOLS) ## draw the plots of the docs from what `make catalogue` measured
	$(BIN)/python benchmarks/figures.py

wheel: $(VENV) ## build dist/presage-*.whl, and try it in an empty environment
	rm -f dist/presage-*.whl
	CARGO_ENCODED_RUSTFLAGS="$$(printf '%b' '$(REMAPPED)')" \
		$(BIN)/maturin build --release --locked --strip --out dist --target-dir rust/target/wheel
	$(BIN)/python tools/first_hour.py dist/presage-*.whl

sdist: $(VENV) ## build dist/presage-*.tar.gz, from which pip builds with the locked crates
	rm -f dist/presage-*.tar.gz
	$(BIN)/maturin sdist --out dist

release-check: $(CORE) $(TOOLS) ## all that has to be true of a release; an hour, and a clean tree
	$(BIN)/python tools/release_check.py

schemas: $(CORE) $(TOOLS) ## write the JSON schemas in docs/reference
	$(BIN)/python tools/schemas.py

docs: $(CORE) $(TOOLS) ## build the site of the documentation in dist/site, and check its links
	PYTHONPATH=tools $(BIN)/python -m docsite dist/site

screenshots: $(CORE) $(TOOLS) $(BROWSER) ## make the pictures of the report page in docs/images
	$(BIN)/python tools/screenshots.py

sbom: $(CORE) $(TOOLS) ## write dist/sbom.cdx.json and dist/licences.txt: what a build is made of
	$(BIN)/python tools/sbom.py dist

lock: ## take the newest tools of development, and of building, into requirements
	$(PYTHON) -m venv .venv/locking
	.venv/locking/bin/pip install --quiet --disable-pip-version-check 'uv>=0.5'
	.venv/locking/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --no-header \
		--python-version 3.11 --extra dev pyproject.toml --output-file $(LOCK)
	.venv/locking/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --no-header \
		--python-version 3.11 --constraint $(LOCK) pyproject.toml requirements/build.in \
		--output-file $(BUILD_LOCK)

clean: ## remove everything that was made
	rm -rf .venv rust/target benchmarks/stateright/target $(CORE) .presage dist
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

# Each file is compared with the digest that is locked, whoever serves it.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r

$(VENV): $(BUILD_LOCK)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) $(BUILD_LOCK)
	touch $@

$(TOOLS): $(VENV) $(LOCK)
	$(INSTALL) $(LOCK)
	touch $@

# An editable install: edits of Python files are live, only Rust edits come back here.
# The old core is removed, not overwritten: a running presage has it mapped and would crash.
$(CORE): $(VENV) $(RUST_SOURCES)
	rm -f $@
	$(BIN)/maturin develop --release --locked
	touch $@

# The report page is tested in Debian's Chromium. Where it cannot be had, those tests fail and say so.
$(BROWSER): $(TOOLS)
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
		test "$$(id -u)" != 0 || { apt-get install -y -qq chromium || \
		{ apt-get update -qq && apt-get install -y -qq chromium; }; } >/dev/null 2>&1 || true
	@command -v tmux >/dev/null || test "$$(id -u)" != 0 || \
		{ apt-get install -y -qq tmux || { apt-get update -qq && \
		apt-get install -y -qq tmux; }; } >/dev/null 2>&1 || true
	touch $@

$(PEER): $(PEER_SOURCES)
	cargo build --release --locked --manifest-path benchmarks/stateright/Cargo.toml
	touch $@
